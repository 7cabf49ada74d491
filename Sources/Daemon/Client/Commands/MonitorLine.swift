import Bridge
import JSON
import Text

/// A line of `monitor` for people: the time, the tag or bridge, and a sentence about it.
struct MonitorLine: Hashable, Sendable {
    /// The whole line. A gesture has a `*` in front, what was there before the monitor a `=`.
    let text: String
    /// Whether it is printed in bold.
    let isGesture: Bool

    /// Puts a message into words.
    ///
    /// - Returns: nil for a message without news, or of another program.
    init?(_ record: MonitorRecord, _ topics: BridgeTopics) {
        guard let (owner, kind) = topics.split(record.topic) else { return nil }
        guard let words = MonitorWords.words(kind, JSONValue(payload: record.payload), owner) else { return nil }
        isGesture = kind == "gesture"
        let mark = isGesture ? "*" : record.isInitial ? "=" : " "
        let columns = [Self.padded(Self.name(owner), 12), words]
        let line = ([mark, ClockText.local(record.time)] + columns).joined(separator: " ")
        text = DisplayText.escaped(line)
    }

    private static func name(_ owner: TopicOwner) -> String {
        switch owner {
        case .bridge: "bridge"
        case .tag(let id): id
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
