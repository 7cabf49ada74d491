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
    /// How long to wait for a tag that is not connected.
    var lifetime: Duration?

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let order = TagOrder(
            tags: tags, command: "haptic", payload: ["pattern": .string(name)], lifetime: lifetime)
        let done = name == "stop" ? "vibration stopped" : "plays \(name.asWords)"
        try await context.perform(order) { $1.sentence(of: $0, done) }
    }

    static let row = Command<any CommandAction>(
        name: "haptic",
        summary: "make the gear of tags vibrate",
        details: ["Plays a pattern on the gear and waits for the response of each tag."],
        options: [.config, .json, .wait],
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
        return try ClientAction(HapticCommand(tags: tags, name: name, lifetime: try arguments.lifetime()), arguments)
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

extension JSONValue {
    /// The note of a result, in the words of the bridge.
    var notes: [String] { [self["data"]?["note"]?.string ?? self["data"]?["text"]?.string].compactMap(\.self) }

    /// The sentence for a successful result of a tag: what was done, and how long it took.
    func sentence(of id: String, _ done: String) -> String {
        let milliseconds = self["took_ms"]?.integer ?? 0
        return "\(id): \(done)" + (milliseconds > 0 ? ", after \(milliseconds) ms" : "")
    }
}
