import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal
import Text

/// `haptic`: makes the gear of a tag vibrate.
struct HapticCommand: ClientCommand {
    /// The tag's ID.
    let id: String
    /// The name of a pattern.
    let name: String

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let request = ClientRequest("haptic", of: id, ["pattern": .string(name)], context.topics)
        try await context.perform(request) { Self.sentence(id, $0) }
    }

    /// The sentence for a successful command to a tag.
    static func sentence(_ id: String, _ result: JSONValue) -> String {
        let time = result["took_ms"]?.integer.map { " after \($0) ms" } ?? ""
        return "\(id) has answered\(time)"
    }

    static let row = Command<any CommandAction>(
        name: "haptic",
        summary: "make the gear of a tag vibrate",
        details: ["Plays a pattern on the gear and waits for the tag's response."],
        options: [.config, .json],
        operands: [.required("ID"), .required("NAME", .words(patterns))],
        values: RowText.id + [
            "NAME is one of " + patterns.prefix(6).joined(separator: ", ") + ",",
            patterns.dropFirst(6).joined(separator: ", ") + ".",
        ],
        json: RowText.resultJSON,
        examples: ["haptic 003R short"]
    ) { arguments throws(CommandLineError) in
        let name = try arguments.operand(1, "NAME", .choice(of: patterns))
        let id = try arguments.operand(0, "ID", .topicLevel)
        return ClientAction(HapticCommand(id: id, name: name), arguments)
    }

    /// The values of `pattern` in `haptic/set`. Source: the article MQTT topics.
    private static let patterns = [
        "short", "long", "stop", "constant_on", "sine_increase", "sine_decrease", "linear_increase",
        "linear_decrease", "parabolic_increase", "parabolic_decrease",
    ]
}

/// `forget`: removes a tag, its bond and its retained topics.
struct ForgetCommand: ClientCommand {
    /// The tag's ID.
    let id: String

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let request = ClientRequest(verb: "forget", ["id": .string(id)], context.topics)
        try await context.perform(request) { _ in "\(id) is forgotten" }
    }

    static let row = Command<any CommandAction>(
        name: "forget",
        summary: "forget a tag",
        details: [
            "Asks the bridge to remove the tag, its bond, its retained topics and its",
            "entities in Home Assistant. A tag in the configuration is added again at",
            "the next start or reload.",
        ],
        options: [.config, .json],
        operands: [.required("ID")],
        values: RowText.id,
        json: RowText.resultJSON,
        examples: ["forget 003R"]
    ) { arguments throws(CommandLineError) in
        ClientAction(ForgetCommand(id: try arguments.operand(0, "ID", .topicLevel)), arguments)
    }
}
