import Bridge
import BrokerAccess
import JSON

/// Describes messages of the MQTT contract, each with a short sentence about the tag or the bridge.
enum MessageText {
    /// Returns the sentence for a message of the bridge or of a tag.
    ///
    /// - Parameters:
    ///   - kind: the topic below that of the owner, such as `gesture` or `led/result`.
    ///   - document: the payload.
    ///   - owner: the bridge or the tag.
    /// - Returns: nil for a message that repeats another topic, and for a topic that was cleared.
    static func sentence(_ kind: String, _ document: JSONValue, _ owner: TopicOwner) -> String? {
        let parts = kind.split(separator: "/").map(String.init)
        // A command without arguments is an empty message, like a topic that was cleared.
        if parts.count == 2, parts[1] == "set" || parts[1] == "get" {
            return command(parts.joined(separator: "/"), document)
        }
        if parts.count == 2, parts[0] == "request" { return command(parts[1], document) }
        guard document != .string("") else { return nil }
        if parts.count == 2, parts[1] == "result" { return result(parts[0], document) }
        if parts.count == 2, parts[0] == "response" { return result(parts[1], document) }
        let rows = if case .tag = owner { TagTopicTable.rows } else { BridgeTopic.table }
        guard let row = rows.first(where: { $0.name == kind }) else {
            return "\(kind): \(document.word ?? document.text)"
        }
        return row.sentence(about: document)
    }

    private static func command(_ name: String, _ document: JSONValue) -> String {
        let payload = document == .string("") ? "" : ": \(document.word ?? document.text)"
        return "command \(name)\(payload)"
    }

    private static func result(_ command: String, _ document: JSONValue) -> String {
        let name = command.asWords
        switch document["status"]?.string {
        case "ok":
            return "\(name): done" + (document["took_ms"]?.integer.map { " after \($0) ms" } ?? "")
        case "accepted": return "\(name): accepted, the result follows"
        case "error":
            let error = document["error"]
            let code = error?["code"]?.string.map { " (\($0))" } ?? ""
            return "\(name) failed: \(error?["text"]?.string ?? "no reason is given")\(code)"
        default: return "\(name): \(document.word ?? document.text)"
        }
    }
}
