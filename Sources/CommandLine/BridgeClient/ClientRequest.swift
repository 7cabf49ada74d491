import Bridge
import BrokerAccess
import JSON
import MQTTTypes
import Text
import Time

/// A request to the bridge, and how to recognize its result.
struct ClientRequest: Hashable, Sendable {
    /// The topic of the request.
    let topic: String
    /// The topic of the result, besides the response topic of MQTT 5.
    let resultTopic: String
    /// The document, including its `id`.
    let payload: JSONValue
    /// The `id` of the result, and with MQTT 5 its correlation data.
    let id: String
    /// The time limit for the first answer. The bridge sends `accepted` if the result takes longer than 250 ms.
    var firstAnswer = Duration.seconds(5)
    /// The time limit for the result after `accepted`.
    let patience: Duration
    /// The object of the wait, shown to the user: `the tag 003R`.
    let waitsFor: String
    /// How long the bridge waits for the tag; nil for a request to the bridge itself.
    var lifetime: Duration?

    /// Creates a command to a tag.
    ///
    /// - Parameters:
    ///   - command: such as `led`.
    ///   - verb: `set` or `get`.
    ///   - tag: its ID.
    ///   - payload: the command's own keys.
    ///   - topics: those of the bridge.
    init(
        _ command: String, verb: String = "set", of tag: String, _ payload: [String: JSONValue], _ topics: BridgeTopics
    ) {
        id = Self.randomID()
        topic = topics.tag(tag, "\(command)/\(verb)")
        resultTopic = topics.tag(tag, "\(command)/result")
        self.payload = .object(payload.merging(["id": .string(id)]) { $1 })
        // Until the tag is connected, then its response.
        let lifetime = payload["ttl_ms"]?.integer.map(Duration.milliseconds) ?? Self.usualLifetime
        patience = lifetime + .seconds(30)
        self.lifetime = lifetime
        waitsFor = "the tag \(tag), at most \(lifetime.decimalSeconds) s"
    }

    /// How long the bridge waits for a tag without `ttl_ms`.
    static let usualLifetime = Duration.seconds(10)

    /// Creates a request to the bridge itself.
    ///
    /// - Parameters:
    ///   - verb: such as `pair`.
    ///   - payload: the request's own keys. An `id` among them, such as a tag's, is kept and is then the `id` of the result.
    ///   - topics: those of the bridge.
    ///   - patience: the time limit for the result.
    ///   - waitsFor: what the command waits for.
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

    /// Unique: the bridge answers a repeated ID within a minute from memory.
    private static func randomID() -> String {
        "cli-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}

/// Interprets messages while a request is pending.
struct BridgeExchange: Sendable {
    /// The meaning of a message for the request.
    enum Step: Hashable, Sendable {
        /// Unrelated.
        case none
        /// The bridge has accepted the request.
        case accepted
        /// A stage of the work, as text for people.
        case stage(String)
        /// The successful result.
        case done(JSONValue)
        /// The request failed.
        case failed(ClientFailure)
    }

    let request: ClientRequest
    let topics: BridgeTopics
    /// The response topic of this client (MQTT 5).
    let answers: String

    /// Interprets a message.
    func received(_ message: MQTTMessage) -> Step {
        switch message.topic {
        case topics.state: String(decoding: message.payload, as: UTF8.self) == "offline" ? .failed(offline) : .none
        case topics.event: stage(JSONValue(payload: message.payload))
        case request.resultTopic, answers: result(message)
        default: .none
        }
    }

    private var offline: ClientFailure { .bridgeOffline(topics.instance) }

    private func result(_ message: MQTTMessage) -> Step {
        let document = JSONValue(payload: message.payload)
        let isOurs =
            document["id"]?.string == request.id || message.correlationData == Array(request.id.utf8)
        guard isOurs, !message.isRetained else { return .none }
        switch document["status"]?.string {
        case "accepted": return .accepted
        case "ok": return .done(document)
        case "error":
            let failure = ClientFailure(result: document)
            return .failed(failure.naming(request.lifetime).namingCommands(of: topics.split(request.topic), topics))
        default: return .none
        }
    }

    /// The stage of the requested pairing; `none` for other events.
    private func stage(_ event: JSONValue) -> Step {
        guard request.topic == topics.request("pair"), let type = event["type"]?.string, type.hasPrefix("pair_") else {
            return .none
        }
        if let serial = event["serial"]?.string, serial != request.payload["serial"]?.string { return .none }
        switch type {
        case "pair_found": return .stage("found it" + (event["address"]?.string.map { " at \($0)" } ?? ""))
        case "pair_pairing": return .stage("pairing")
        case "pair_connecting": return .stage("connecting")
        // The command itself announces the start, and the result reports the end.
        default: return .none
        }
    }
}

extension ClientFailure {
    /// The failure with the time that the bridge has waited for the tag, in the words of the command line.
    fileprivate func naming(_ lifetime: Duration?) -> ClientFailure {
        guard let lifetime, code == "expired" else { return self }
        let hint = [hint, "--wait SECONDS waits longer"].compactMap(\.self).joined(separator: "; ")
        // Word by word: `replacing` would link the parser of regular expressions, 0.8 MB of code.
        var words: [String] = []
        var isLimit = false
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if isLimit, word.hasPrefix("("), let end = word.firstIndex(of: ")") {
                // The same time in milliseconds.
                words[words.count - 1] += word[word.index(after: end)...]
            } else {
                words.append(word == "ttl_ms" ? "\(lifetime.decimalSeconds) s" : String(word))
            }
            isLimit = word == "ttl_ms"
        }
        return ClientFailure(exitCode: exitCode, code: code, text: words.joined(separator: " "), hint: hint)
    }

    /// The failure with commands and operands of the command line in place of topics and keys.
    ///
    /// - Parameters:
    ///   - destination: the owner of the topic of the request.
    ///   - topics: those of the bridge.
    /// - Returns: the same failure for a request to the bridge.
    fileprivate func namingCommands(
        of destination: (owner: TopicOwner, rest: String)?, _ topics: BridgeTopics
    ) -> ClientFailure {
        guard case .tag(let id)? = destination?.owner else { return self }
        let commands = [
            ("Send stop to imu/set", "Run jacquard2mqtt imu stop \(id)"),
            ("imu/sessions/get", "jacquard2mqtt imu sessions \(id)"),
            ("modules/get", "jacquard2mqtt modules \(id)"),
            (topics.tag(id, "gear"), "jacquard2mqtt status --json"),
            (#""signal" is"#, "SIGNAL is"),
        ]
        func rewritten(_ text: String) -> String {
            guard let (phrase, command) = commands.first(where: { text.hasPrefix($0.0) }) else { return text }
            return command + text.dropFirst(phrase.count)
        }
        return ClientFailure(exitCode: exitCode, code: code, text: rewritten(text), hint: hint.map(rewritten))
    }
}
