public import JSON

/// A row of the table of topics.
///
/// The retained topics to clear, the record of events, the subscriptions of the web page and the sentences of `monitor`
/// follow from the rows. A feature declares its rows in its own folder, and adds them to ``TagTopicTable``.
public struct TopicRow: Sendable {
    /// How the messages of a topic are delivered.
    public enum Kind: Sendable {
        /// The broker keeps the latest message.
        case fact
        /// Each message is delivered once.
        case event
        /// A message may be dropped.
        case stream
    }

    /// When a fact is published.
    enum Use: Sendable {
        /// Always, or once its value is known.
        case always
        /// With several radios.
        case severalRadios
        /// While a feature is used that a reload can switch off.
        case feature
    }

    /// The last levels of the topic, such as `battery/level`.
    public let name: String
    /// How its messages are delivered.
    public let kind: Kind
    let use: Use
    /// Whether its messages are recorded for `replay-events`.
    let isRecorded: Bool
    /// Whether the web page subscribes to it.
    public let isOnPage: Bool
    /// The sentence of `monitor`; nil for a message that repeats another topic.
    private let sentence: @Sendable (JSONValue) -> String?

    init(
        _ name: String, _ kind: Kind, while use: Use = .always, isRecorded: Bool = false, isOnPage: Bool = true,
        sentence: @escaping @Sendable (JSONValue) -> String? = { _ in nil }
    ) {
        (self.name, self.kind, self.use) = (name, kind, use)
        (self.isRecorded, self.isOnPage) = (isRecorded, isOnPage)
        self.sentence = sentence
    }

    /// Whether the broker keeps its latest message.
    public var isFact: Bool { kind == .fact }

    /// Returns a sentence about the tag or the bridge; nil for a message that repeats another topic.
    public func sentence(about document: JSONValue) -> String? { sentence(document) }
}

extension [TopicRow] {
    /// The names of the facts that are published for some reasons.
    func facts(while isUsed: (TopicRow.Use) -> Bool) -> [String] {
        filter { $0.isFact && isUsed($0.use) }.map(\.name)
    }
}
