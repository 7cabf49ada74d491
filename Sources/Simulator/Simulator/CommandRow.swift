import JacquardProtocol
import TagFirmware

/// One row of the table of commands: its lines of help, and how the words after it become a command.
struct CommandRow: Sendable {
    typealias Parser = @Sendable (inout CommandWords) throws(CommandError) -> SimulatorCommand
    typealias ActionParser = @Sendable (inout CommandWords) throws(CommandError) -> TagAction

    /// The first word.
    let verb: String
    /// Each form of the command, and what it means.
    let help: [(form: String, meaning: [String])]
    /// Parses the words after the verb.
    let parse: Parser

    private init(_ verb: String, _ help: [(String, [String])], parse: @escaping Parser) {
        self.verb = verb
        self.help = help
        self.parse = parse
    }

    /// A command with one form.
    private init(_ verb: String, _ operands: String = "", _ meaning: String..., parse: @escaping Parser) {
        self.init(verb, [(operands.isEmpty ? verb : "\(verb) \(operands)", meaning)], parse: parse)
    }

    /// A command on tags, whose first operand selects them.
    private init(onTags verb: String, _ operands: String = "", _ meaning: String..., parse: @escaping ActionParser) {
        let form = operands.isEmpty ? "\(verb) TAG" : "\(verb) TAG \(operands)"
        self.init(verb, [(form, meaning)]) { words throws(CommandError) in
            let selection = try words.selection(for: verb)
            return .tags(selection, try parse(&words))
        }
    }

    /// All commands, in the order of the help.
    static let all: [CommandRow] = [
        CommandRow(
            onTags: "gesture", "NAME|cycle [COUNT [RATE]]", "\(Gesture.words.joined(separator: ", ")), or a number"
        ) {
            words throws(CommandError) in .play(try words.gesture())
        },
        CommandRow(onTags: "touch", "[V,V,...] [COUNT [RATE]]", "proximity and twelve lines, or a moving finger") {
            words throws(CommandError) in .play(try words.touch())
        },
        CommandRow(
            onTags: "stroke", "[FROM TO [MS [REST]]]", "a finger slides from a place to another, 0 to 100, in MS",
            "milliseconds, and rests there for REST milliseconds"
        ) { words throws(CommandError) in
            .play(try words.stroke())
        },
        CommandRow(onTags: "battery", "LEVEL [charging|not_charging]") { words throws(CommandError) in
            try words.battery()
        },
        CommandRow(onTags: "notify", "PACKET", "sends a packet in hexadecimal as a notification") {
            words throws(CommandError) in
            .notify(try words.packet())
        },
        CommandRow(onTags: "attach", "GEAR", SimulatedGear.all.map(\.word).joined(separator: ", ")) {
            words throws(CommandError) in .attach(try words.gear())
        },
        CommandRow(onTags: "detach") { _ throws(CommandError) in .detach },
        CommandRow(onTags: "out-of-range", "", "the link breaks after the supervision timeout") {
            _ throws(CommandError) in .range(isIn: false)
        },
        CommandRow(onTags: "in-range") { _ throws(CommandError) in .range(isIn: true) },
        CommandRow(
            onTags: "move", "[X,Y]", "to a place in metres, with --places; without a place it wakes a sleeping",
            "tag, as a touch or the button does"
        ) { words throws(CommandError) in try words.move() },
        CommandRow(onTags: "sleep", "", "no link and no advertisement until the button is pressed") {
            _ throws(CommandError) in .sleep
        },
        CommandRow(onTags: "button") { _ throws(CommandError) in .button },
        CommandRow(
            onTags: "fault", "FAULT [once]", "drop-response, delay MS, double, wrong-id, status N, malformed,",
            "truncated, no-body, lost-fragment, hang, no-write-with-response,", "clear"
        ) { words throws(CommandError) in try words.fault() },
        CommandRow(onTags: "session", "NAME SAMPLES", "stores a recording of the motion sensor") {
            words throws(CommandError) in try words.session()
        },
        CommandRow(
            onTags: "motion-fault", "FAULT", "repeated-packets, empty-packet, link-lost BYTE..., no-end-marker,",
            "missing-session, status N, clear"
        ) { words throws(CommandError) in try words.motionFault() },
        CommandRow("lose-bond", "TAG", "the tag forgets the bond, the host does not; pair it again") {
            words throws(CommandError) in .loseBond(try words.selection(for: "lose-bond"))
        },
        CommandRow("adapter", "on|off|plug|unplug [NUMBER]") { words throws(CommandError) in try words.adapter() },
        CommandRow(
            "bluez",
            [
                ("bluez ignore MEMBER", ["calls of it get no reply"]),
                (
                    "bluez refuse MEMBER ERROR [TEXT]",
                    ["for example: refuse Connect Failed le-connection-abort-by-local"]
                ),
                (
                    "bluez FAULT",
                    [
                        "hide-services, hide-characteristics, resolve-nothing,",
                        "end-discovery, remove-devices, close-descriptors, clear",
                    ]
                ),
            ]
        ) { words throws(CommandError) in .blueZFault(try words.blueZFault()) },
        CommandRow("esphome", "FAULT", "drop, silent, taken, slots N, clear") { words throws(CommandError) in
            .proxyFault(try words.proxyFault())
        },
        CommandRow("crash-bluez", "[MS]", "and restart after MS milliseconds (1000)") { words throws(CommandError) in
            .crashBlueZ(.milliseconds(try words.number("MS", in: 0...3_600_000) ?? 1000))
        },
        CommandRow("list", "", "print all tags") { _ throws(CommandError) in .list },
        CommandRow("help", "", "print this list") { _ throws(CommandError) in .help },
        CommandRow("quit", "", "end the simulator") { _ throws(CommandError) in .quit },
    ]

    /// The lines of `help`, with the meanings in one column.
    static let help = ["TAG is a serial, an address, or * for all tags:"] + rows

    private static let rows: [String] = all.flatMap(\.help).flatMap { form, meaning in
        let rows = meaning.isEmpty ? [""] : meaning
        return rows.enumerated().map { index, text in
            let left = index == 0 ? form : ""
            let line = "  " + left + String(repeating: " ", count: max(1, 42 - left.count)) + text
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension SimulatorCommand {
    /// Parses a line such as `gesture 0001 double_tap`.
    ///
    /// - Throws: ``CommandError`` that says what is allowed.
    public static func parse(_ line: some StringProtocol) throws(CommandError) -> SimulatorCommand {
        var words = CommandWords(line)
        let verb = words.next() ?? ""
        guard let row = CommandRow.all.first(where: { $0.verb == verb }) else {
            let allowed = CommandRow.all.map(\.verb).sorted().joined(separator: ", ")
            throw CommandError("unknown command '\(verb)'; commands are \(allowed)")
        }
        let command = try row.parse(&words)
        try words.expectEnd()
        return command
    }
}
