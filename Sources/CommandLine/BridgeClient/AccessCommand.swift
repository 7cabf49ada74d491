import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import Glibc
import JSON
import Terminal
import Text

/// `acl`: prints access rules for the broker, or tries them.
enum AccessCommand {
    /// The form of the command. The raw values are the words of the command line.
    enum Form: String, CaseIterable, Sendable {
        /// Prints rules for mosquitto.
        case mosquitto
        /// Tries the actions of each role at the broker.
        case attempt = "try"
    }

    static let row = Command<any CommandAction>(
        name: "acl",
        summary: "print access rules for the broker, or try them",
        details: [
            "acl mosquitto prints the access control list for the topics of the",
            "configuration: for all roles, or with --role for one user.",
            "",
            "acl try logs in as each user, and tries every action that its role may and",
            "may not do. The messages are empty, not retained, and on topics of a tag",
            "and a bridge that don't exist.",
        ],
        options: [.config, .json, roleOption, userOption, toOption, loginsOption],
        operands: [.required("FORM", .words(Form.allCases.map(\.rawValue)))],
        values: ["FORM is mosquitto or try."],
        json: [
            #"mosquitto: {"rules":[{"role","user","right","topic"}]}. try: {"status","#,
            #""trials":[{"role","user","action","topic","allowed","done"}]}; done is null"#,
            "if it could not be tried.",
        ],
        examples: ["acl mosquitto", "acl mosquitto --role bridge --user hall", "acl try --logins logins.txt"]
    ) { arguments throws(CommandLineError) in
        let form = try arguments.operand(0, "FORM", ScalarRule<Form>.choice)
        let role = try arguments.value(of: roleOption, ScalarRule<AccessRole>.choice)
        let user = try arguments.value(of: userOption, userName)
        let logins = arguments.options[loginsOption.name]
        let replayBase = try arguments.value(of: toOption, .topic) ?? AccessTable.usualReplayBase
        switch form {
        case .mosquitto:
            guard logins == nil else { throw CommandLineError(message: "--logins is for acl try") }
            guard user == nil || role != nil else { throw CommandLineError(message: "--user needs --role") }
            return AccessListAction(
                options: try ClientOptions(arguments), role: role, user: user, replayBase: replayBase)
        case .attempt:
            guard user == nil else { throw CommandLineError(message: "--user is for acl mosquitto") }
            guard logins == nil || role == nil else {
                throw CommandLineError(message: "--logins names the roles; leave --role out")
            }
            return try ClientAction(
                AccessTryCommand(role: role ?? .bridge, logins: logins, replayBase: replayBase), arguments)
        }
    }

    private static let roleOption = OptionDescription(
        name: "--role", value: "ROLE", completion: .words(AccessRole.allCases.map(\.rawValue)),
        details: [
            AccessRole.allCases.prefix(3).map(\.rawValue).joined(separator: ", ") + ",",
            AccessRole.allCases.dropFirst(3).dropLast().map(\.rawValue).joined(separator: ", ")
                + " or \(AccessRole.allCases.last?.rawValue ?? ""). With try: the role of the",
            "configuration's user; default: bridge.",
        ])
    private static let userOption = OptionDescription(
        name: "--user", value: "NAME", details: ["The name of the user at the broker. Default: the role."])
    private static let toOption = OptionDescription(
        name: "--to", value: "TOPIC", details: ["The base topic of replays (default: shadow)."])
    private static let loginsOption = OptionDescription(
        name: "--logins", value: "FILE", completion: .file([]),
        details: [
            "A file with a line for each login: ROLE USER PASSWORD. Default: the",
            "configuration's user alone.",
        ])
}

/// A name that mosquitto accepts in a list: one word in one line.
private var userName: ScalarRule<String> {
    ScalarRule(allowed: "1 to 256 bytes without blanks and control characters") {
        text throws(Rejection) in
        guard !text.isEmpty else { throw Rejection("is empty") }
        guard text.utf8.count <= 256 else { throw Rejection("is too long") }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw Rejection("holds other characters") }
        return text
    }
}

/// `acl mosquitto`: prints an access control list. It needs no broker.
struct AccessListAction: CommandAction {
    /// The options that all commands take.
    let options: ClientOptions
    /// The role; nil: all.
    let role: AccessRole?
    /// The user with the role; nil: one with the role's name.
    let user: String?
    /// The base topic of replays.
    var replayBase = AccessTable.usualReplayBase

    func run(in context: CommandContext) -> ExitCode {
        run(environment: context.environment, printer: Printer(isJSON: options.isJSON))
    }

    /// Prints the list.
    func run(
        environment: [String: String], defaultPath: String = ConfigurationFile.defaultPath, printer: Printer
    ) -> ExitCode {
        switch ConfigurationFile.load(path: options.config, environment: environment, defaultPath: defaultPath) {
        case .failure(let failure):
            if options.isJSON { printer.write(failure.document) }
            failure.lines.forEach { printer.write(.standardError, $0) }
            return .wrongUsage
        case .success(let loaded):
            if let topic = ReplayCommand.topic(of: loaded.configuration, overlapping: replayBase) {
                let failure = ReplayCommand.overlappingBase(replayBase, topic)
                printer.show(failure)
                return failure.exitCode
            }
            let table = AccessTable(loaded.configuration, replayBase: replayBase)
            printer.show(document(table), lines(MosquittoAccessList(table)))
            return .done
        }
    }

    private func lines(_ list: MosquittoAccessList) -> [String] {
        let text = role.map { list.section(of: $0, user: user ?? $0.rawValue) } ?? list.text
        return text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private func document(_ table: AccessTable) -> JSONValue {
        let rules = (role.map { [$0] } ?? AccessRole.allCases).flatMap { role in
            table.rules(of: role).map { rule -> JSONValue in
                [
                    "role": .string(role.rawValue), "user": .string(user ?? role.rawValue),
                    "right": .string(rule.right.rawValue), "topic": .string(rule.filter),
                ]
            }
        }
        return ["rules": .array(rules)]
    }
}

extension AccessTable {
    /// The rights for the topics of a configuration.
    init(_ configuration: Settings, replayBase: String) {
        self.init(
            base: configuration.mqtt.baseTopic, discoveryPrefix: configuration.homeAssistant.prefix,
            replayBase: replayBase)
    }
}
