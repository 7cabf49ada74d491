import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import JSON
import JacquardProtocol
import Terminal
import Text

/// `imu`: motion data.
enum MotionCommand {
    /// The action of the command. The raw values are the words of the command line.
    enum Action: String, CaseIterable, Sendable {
        /// Reads a recorded session, without bridge and tag.
        case parse
        /// Reads the state of a tag.
        case status
        /// Records on a tag.
        case record
        /// Ends recording, stream or download.
        case stop
        /// Lists the sessions on a tag.
        case sessions
        /// Transfers a session to a file of the bridge.
        case download
        /// Erases a session on a tag.
        case erase
        /// Prints samples while they are made.
        case stream
        /// Loads the module.
        case activate
        /// Unloads the module.
        case deactivate
    }

    static let row = Command<any CommandAction>(
        name: "imu",
        summary: "record the motion of a tag, and read recordings",
        details: [
            "record starts a recording on the tag, stop ends it, sessions lists what is",
            "stored, and download transfers a session to the folder imu.folder of the",
            "bridge. stream prints samples while they are made, 60 seconds by default.",
            "",
            "parse reads a session file and prints its header. It needs neither bridge",
            "nor tag.",
        ],
        options: [
            .config, .json, csvOption, edgeImpulseOption, svgOption, secondsOption, rateOption, durationOption,
            eraseOption, .wait,
        ] + idOptions.map(\.option),
        operands: [
            .required("ACTION", .words(Action.allCases.map(\.rawValue))),
            .required("TARGET", .after(Action.parse.rawValue, .file([]), otherwise: .tag)), .optional("NAME"),
        ],
        values: [
            "ACTION is one of " + Action.allCases.prefix(6).map(\.rawValue).joined(separator: ", ") + ",",
            Action.allCases.dropFirst(6).map(\.rawValue).joined(separator: ", ")
                + ". TARGET is the tag's ID;",
            "for parse a file such as run-1.bin. NAME is a session.",
            "It is for record, download and erase, like the other texts of a session.",
        ],
        json: [
            #"parse: {"session","group","campaign","product","subject","accelerometer_hz","#,
            #""gyroscope_hz","g_per_unit","dps_per_unit","tick_us","complete","samples","#,
            #""lost","actions":[{"action","result","samples":[[ax,ay,az,gx,gy,gz,"#,
            #"ticks],...]}]}; the samples are as in the file. download: {"status","file"}."#,
            "Otherwise the bridge's result as published on MQTT, or the error.",
        ],
        examples: [
            "imu record 003R run-1 --rate 100", "imu stop 003R", "imu download 003R run-1",
            "imu parse run-1.bin --csv > run-1.csv",
        ]
    ) { arguments throws(CommandLineError) in
        let action = try arguments.operand(0, "ACTION", ScalarRule<Action>.choice)
        return action == .parse ? try parse(arguments) : try tag(arguments, action)
    }

    /// The words by which a session is named; other programs may have recorded it with longer ones.
    private static func words(of action: Action) -> ScalarRule<String> {
        guard action == .record else { return .text(bytes: 128) }
        return ScalarRule(allowed: "1 to 30 characters without control characters") { text throws(Rejection) in
            let text = try ScalarRule<String>.text(bytes: 128).parse(text)
            guard MotionSessionID.isValid(text) else { throw Rejection("is too long") }
            return text
        }
    }

    private static func tag(_ arguments: ParsedArguments, _ action: Action) throws(CommandLineError)
        -> any CommandAction
    {
        var command = MotionTagCommand(
            tag: try arguments.operand(1, "TARGET", .topicLevel), action: action, lifetime: try arguments.lifetime())
        let name = try arguments.optionalOperand(2, "NAME", words(of: action))
        guard ([Action.record, .download, .erase].contains(action)) == (name != nil) else {
            throw CommandLineError(message: name == nil ? "NAME is missing" : "\(action.rawValue) takes no NAME")
        }
        guard [edgeImpulseOption, svgOption, secondsOption].allSatisfy({ arguments.options[$0.name] == nil }) else {
            throw CommandLineError(message: "--edge-impulse, --svg and --seconds are for imu parse")
        }
        if action != .status, action != .sessions { command.payload["action"] = .string(action.rawValue) }
        command.payload["session"] = name.map(JSONValue.string)
        for (option, key) in idOptions {
            guard let text = try arguments.value(of: option, words(of: action)) else { continue }
            guard name != nil else {
                throw CommandLineError(message: "\(option.name) is for record, download and erase")
            }
            command.payload[key] = .string(text)
        }
        if let rate = try arguments.value(of: rateOption, .choice(of: rates)).flatMap({ Int64($0) }) {
            guard action == .record || action == .stream else {
                throw CommandLineError(message: "--rate is for record and stream")
            }
            command.payload["accelerometer_hz"] = .integer(rate)
            command.payload["gyroscope_hz"] = .integer(rate)
        }
        if let duration = try arguments.value(of: durationOption, .wholeSeconds(1...3600)) {
            guard action == .stream else { throw CommandLineError(message: "--duration is for stream") }
            command.payload["seconds"] = .integer(duration.components.seconds)
        }
        if arguments.options[eraseOption.name] != nil {
            guard action == .download else { throw CommandLineError(message: "--erase is for download") }
            command.payload["erase"] = true
        }
        if arguments.options[csvOption.name] != nil {
            guard action == .stream else { throw CommandLineError(message: "--csv is for parse and stream") }
            command.isCSV = true
        }
        return try ClientAction(command, arguments)
    }

    private static func parse(_ arguments: ParsedArguments) throws(CommandLineError) -> any CommandAction {
        let file = try arguments.operand(1, "TARGET", .text(bytes: 4_095))
        guard arguments.operands.count == 2 else { throw CommandLineError(message: "parse takes no NAME") }
        for option in [rateOption, durationOption, eraseOption] + idOptions.map(\.option)
        where arguments.options[option.name] != nil {
            throw CommandLineError(message: "\(option.name) is not for parse")
        }
        let given = [csvOption, edgeImpulseOption, svgOption, .json].filter { arguments.options[$0.name] != nil }
        guard given.count <= 1 else {
            throw CommandLineError(message: "\(given.map(\.name).joined(separator: " and ")) exclude each other")
        }
        let isInSeconds = arguments.options[secondsOption.name] != nil
        guard !isInSeconds || given.first == csvOption else {
            throw CommandLineError(message: "--seconds is for --csv")
        }
        let form: MotionParseAction.Form =
            switch given.first {
            case csvOption: .csv(isInSeconds ? .seconds : .milliseconds)
            case edgeImpulseOption: .csv(.edgeImpulse)
            case svgOption: .svg
            default: .header
            }
        return MotionParseAction(file: file, form: form, options: try ClientOptions(arguments))
    }

    private static let rateOption = OptionDescription(
        name: "--rate", value: "HZ",
        details: ["Samples per second of both sensors: 25, 50, 100, 200, 400, 800 or 1600", "(default: 25)."])
    private static let rates = MotionRates.gyroscopeHertz.filter(MotionRates.accelerometerHertz.contains).map {
        "\(Int($0))"
    }
    private static let durationOption = OptionDescription(
        name: "--duration", value: "SECONDS", details: ["How long to stream, 1 to 3600 (default: 60)."])
    private static let eraseOption = OptionDescription(
        name: "--erase", value: nil, details: ["With download: erase the session on the tag afterwards."])
    /// The texts of a session besides its name, with the keys of the command.
    private static let idOptions: [(option: OptionDescription, key: String)] = [
        "group", "campaign", "product", "subject",
    ].map {
        (
            OptionDescription(
                name: "--\($0)", value: $0.uppercased(), details: ["The \($0) of the session, as 1 to 30 characters."]),
            $0
        )
    }
    private static let csvOption = OptionDescription(
        name: "--csv", value: nil,
        details: ["Print timestamp (in ms), ax_g, ay_g, az_g, gx_dps, gy_dps, gz_dps."])
    private static let edgeImpulseOption = OptionDescription(
        name: "--edge-impulse", value: nil,
        details: [
            "With parse: print the columns that the uploader of Edge Impulse takes:",
            "timestamp, accX, accY, accZ, gyrX, gyrY, gyrZ.",
        ])
    private static let svgOption = OptionDescription(
        name: "--svg", value: nil, details: ["With parse: draw the six curves as an SVG picture."])
    private static let secondsOption = OptionDescription(
        name: "--seconds", value: nil, details: ["With parse and --csv: the first column is t_s, in seconds."])
}

/// `imu parse`: prints a session file. It needs neither configuration nor broker.
struct MotionParseAction: CommandAction {
    /// The form of the output.
    enum Form: Hashable, Sendable {
        /// The header for people, or everything as JSON.
        case header
        /// One line for each sample.
        case csv(MotionTable.Columns)
        /// The curves.
        case svg
    }

    /// The longest file, in bytes: more than the memory of a tag.
    static let limit = 64 << 20

    /// The file's path.
    let file: String
    /// The form of the output.
    let form: Form
    /// The options that all commands take.
    let options: ClientOptions

    func run(in context: CommandContext) -> ExitCode {
        run(
            printer: Printer(
                isJSON: options.isJSON, style: TerminalStyle(options.color, environment: context.environment)))
    }

    /// Prints the file.
    func run(printer: Printer) -> ExitCode {
        do throws(ClientFailure) {
            let session = try load()
            switch form {
            case .header:
                let report = MotionFileReport(session)
                printer.show(report.document, report.lines.map(DisplayText.escaped))
            case .csv(let columns): MotionTable(session, columns).forEachLine { printer.write(.standardOutput, $0) }
            case .svg: MotionPicture(session).lines.forEach { printer.write(.standardOutput, $0) }
            }
            return .done
        } catch {
            printer.show(error)
            return error.exitCode
        }
    }

    private func load() throws(ClientFailure) -> MotionFile {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try FileContents(path: file, limit: Self.limit).bytes
        } catch {
            throw ClientFailure(exitCode: .failed, code: "file_error", text: "\(file): \(error.reason(for: file))")
        }
        do throws(MotionFile.ReadError) {
            return try MotionFile(parsing: bytes)
        } catch {
            throw ClientFailure(
                exitCode: .failed, code: "not_a_motion_file", text: "\(file) is not a session file of a tag: \(error)")
        }
    }
}
