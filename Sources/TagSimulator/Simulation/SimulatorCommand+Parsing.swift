import JacquardProtocol

extension SimulatorCommand {
    /// Reads a line such as `gesture 0001 double_tap`.
    ///
    /// - Throws: ``CommandError`` that says what would have been right.
    public static func parse(_ line: some StringProtocol) throws(CommandError) -> SimulatorCommand {
        var words = CommandWords(line)
        let verb = words.next() ?? ""
        let command: SimulatorCommand
        switch verb {
        case "list": command = .list
        case "help": command = .help
        case "quit": command = .quit
        case "adapter": command = try adapter(&words)
        case "lose-bond": command = .loseBond(try words.selection(for: verb))
        case "bluez": command = .trouble(try BlueZTrouble.parse(&words))
        case "crash-bluez":
            command = .crashBlueZ(.milliseconds(try words.number("MS", in: 0...3_600_000) ?? 1000))
        default:
            guard let parse = TagAction.parsers[verb] else {
                throw CommandError("unknown command '\(verb)'; commands are \(verbs.joined(separator: ", "))")
            }
            let selection = try words.selection(for: verb)
            command = .tags(selection, try parse(&words))
        }
        try words.expectEnd()
        return command
    }

    private static var verbs: [String] {
        TagAction.parsers.keys.sorted()
            + ["adapter", "bluez", "crash-bluez", "list", "lose-bond", "help", "quit"]
    }

    private static func adapter(_ words: inout CommandWords) throws(CommandError) -> SimulatorCommand {
        let verb = try words.choice("adapter", AdapterVerb.words)
        let number = try words.number("ADAPTER", in: 0...9)
        return switch verb {
        case .power(let isOn): .adapter(isOn: isOn, number: number)
        case .plug(let isIn): .plug(isIn: isIn, number: number ?? 0)
        }
    }
}

/// What can be done with an adapter.
private enum AdapterVerb {
    case power(isOn: Bool)
    case plug(isIn: Bool)

    static let words: [String: AdapterVerb] = [
        "on": .power(isOn: true), "off": .power(isOn: false), "plug": .plug(isIn: true), "unplug": .plug(isIn: false),
    ]
}

extension TagAction {
    typealias Parser = @Sendable (inout CommandWords) throws(CommandError) -> TagAction

    /// The parser of what stands behind the tag, for each command on tags.
    static let parsers: [String: Parser] = [
        "gesture": gesture, "touch": touch, "battery": battery, "attach": attach, "fault": fault,
        "detach": { _ throws(CommandError) in .detach },
        "out-of-range": { _ throws(CommandError) in .range(isIn: false) },
        "in-range": { _ throws(CommandError) in .range(isIn: true) },
        "sleep": { _ throws(CommandError) in .sleep },
        "button": { _ throws(CommandError) in .button },
    ]

    @Sendable private static func gesture(_ words: inout CommandWords) throws(CommandError) -> TagAction {
        let word = words.next() ?? ""
        let content: Burst.Content
        if word == "cycle" {
            content = .cycle
        } else if let gesture = GestureWord.gesture(word) {
            content = .gesture(gesture)
        } else {
            throw CommandError("'\(word)' is no gesture; gestures are \(GestureWord.allowed), cycle, or a number")
        }
        return .play(try words.burst(content))
    }

    @Sendable private static func touch(_ words: inout CommandWords) throws(CommandError) -> TagAction {
        guard let word = words.peek(), word.contains(",") else { return .play(try words.burst(.stroke)) }
        _ = words.next()
        let values = word.split(separator: ",", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        guard values.count == 13, values.allSatisfy({ $0 <= 128 }) else {
            throw CommandError("a touch is 13 numbers from 0 to 128 with commas: proximity and twelve lines")
        }
        return .play(try words.burst(.touch(values)))
    }

    @Sendable private static func battery(_ words: inout CommandWords) throws(CommandError) -> TagAction {
        guard let level = try words.number("LEVEL", in: 0...100) else {
            throw CommandError("battery needs a level from 0 to 100, and may have charging or not_charging behind it")
        }
        let charging =
            words.peek() == nil ? nil : try words.choice("battery", ["charging": true, "not_charging": false])
        return .battery(level: UInt8(level), isCharging: charging)
    }

    @Sendable private static func attach(_ words: inout CommandWords) throws(CommandError) -> TagAction {
        let word = words.next() ?? ""
        guard let gear = SimulatedGear(word: word) else {
            let allowed = SimulatedGear.all.map(\.word).joined(separator: ", ")
            throw CommandError("'\(word)' is no gear; gear is \(allowed)")
        }
        return .attach(gear)
    }

    @Sendable private static func fault(_ words: inout CommandWords) throws(CommandError) -> TagAction {
        let word = words.next() ?? ""
        switch word {
        case "clear": return .fault(nil, isOnce: false)
        case "no-write-with-response": return .refusesWrites
        default: break
        }
        let fault: Faults.AnswerFault
        switch word {
        case "delay":
            guard let wait = try words.number("MS", in: 0...600_000) else {
                throw CommandError("delay needs milliseconds, 0 to 600000")
            }
            fault = .delay(.milliseconds(wait))
        case "status":
            guard let number = try words.number("N", in: 0...255) else {
                throw CommandError("status needs a number, 0 to 255")
            }
            fault = .status(UInt32(number))
        default:
            guard let plain = plainFaults[word] else {
                let allowed = plainFaults.keys.sorted() + ["delay MS", "status N", "no-write-with-response", "clear"]
                throw CommandError("'\(word)' is no fault; faults are \(allowed.joined(separator: ", "))")
            }
            fault = plain
        }
        let isOnce = words.peek() == "once"
        if isOnce { _ = words.next() }
        return .fault(fault, isOnce: isOnce)
    }

    private static let plainFaults: [String: Faults.AnswerFault] = [
        "drop-response": .drop, "double": .double, "wrong-id": .wrongID, "malformed": .malformed,
        "truncated": .truncated, "no-body": .noBody, "lost-fragment": .lostFragment, "hang": .hang,
    ]
}
