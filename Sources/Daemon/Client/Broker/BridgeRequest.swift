import Bridge
import JSON

/// A question to the bridge, and how its answer is known.
struct BridgeRequest: Hashable, Sendable {
    /// Where it is asked.
    let topic: String
    /// Where the bridge answers, beside the response topic of MQTT 5.
    let resultTopic: String
    /// The keys of the command, its `id` included.
    let payload: JSONValue
    /// Comes back as the result's `id`, and with MQTT 5 as correlation data.
    let id: String
    /// How long the bridge may take for its first word: it says `accepted` when the answer takes longer than 250 ms.
    var firstWord = Duration.seconds(5)
    /// How long the final answer may take once the bridge has said that it works on it.
    let patience: Duration
    /// What is waited for, said to a user who waits: `the tag 003R`.
    let waitsFor: String

    /// A command to a tag.
    ///
    /// - Parameters:
    ///   - command: such as `led`.
    ///   - tag: its id.
    ///   - payload: the command's own keys.
    ///   - topics: those of the bridge.
    init(_ command: String, of tag: String, _ payload: [String: JSONValue], _ topics: BridgeTopics) {
        id = Self.randomID()
        topic = topics.tag(tag, "\(command)/set")
        resultTopic = topics.tag(tag, "\(command)/result")
        self.payload = .object(payload.merging(["id": .string(id)]) { $1 })
        // Ten seconds for the tag to come, then its answer.
        patience = .seconds(40)
        waitsFor = "the tag \(tag)"
    }

    /// A request to the bridge itself.
    ///
    /// - Parameters:
    ///   - verb: such as `pair`.
    ///   - payload: the request's own keys. An `id` among them has a meaning of its own and is left as it is: the result
    ///     then has that one.
    ///   - topics: those of the bridge.
    ///   - patience: how long the final answer may take.
    ///   - waitsFor: what is waited for.
    init(
        verb: String, _ payload: [String: JSONValue], _ topics: BridgeTopics, patience: Duration = .seconds(30),
        waitsFor: String = "the bridge"
    ) {
        id = payload["id"]?.string ?? Self.randomID()
        topic = topics.request(verb)
        resultTopic = topics.response(verb)
        self.payload = .object(payload.merging(["id": .string(id)]) { $1 })
        self.patience = patience
        self.waitsFor = waitsFor
    }

    /// No other request of the last minute has it: the bridge answers a repeated one from memory.
    private static func randomID() -> String {
        "cli-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}
