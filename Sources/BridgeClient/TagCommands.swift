import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal
import Text

/// `haptic`: makes the gear of a tag vibrate.
struct HapticCommand: ClientCommand {
    /// The tags.
    let tags: TagOperand
    /// The name of a pattern.
    let name: String

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let order = TagOrder(tags: tags, command: "haptic", payload: ["pattern": .string(name)])
        try await context.perform(order) { Self.sentence($0, $1) }
    }

    /// The sentence for a successful command to a tag.
    static func sentence(_ id: String, _ result: JSONValue) -> String {
        let time = result["took_ms"]?.integer.map { " after \($0) ms" } ?? ""
        return "\(id) has answered\(time)"
    }

    static let row = Command<any CommandAction>(
        name: "haptic",
        summary: "make the gear of tags vibrate",
        details: ["Plays a pattern on the gear and waits for the response of each tag."],
        options: [.config, .json],
        operands: [.required("ID", .tags), .required("NAME", .words(patterns))],
        values: RowText.ids + [
            "NAME is one of " + patterns.prefix(6).joined(separator: ", ") + ",",
            patterns.dropFirst(6).joined(separator: ", ") + ".",
        ],
        json: RowText.resultsJSON,
        examples: ["haptic 003R short", "haptic 003R,0001 stop"]
    ) { arguments throws(CommandLineError) in
        let name = try arguments.operand(1, "NAME", .choice(of: patterns))
        let tags = try arguments.operand(0, "ID", TagOperand.rule)
        return try ClientAction(HapticCommand(tags: tags, name: name), arguments)
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
        operands: [.required("ID", .tag)],
        values: RowText.id,
        json: RowText.resultJSON,
        examples: ["forget 003R"]
    ) { arguments throws(CommandLineError) in
        try ClientAction(ForgetCommand(id: try arguments.operand(0, "ID", .topicLevel)), arguments)
    }
}
