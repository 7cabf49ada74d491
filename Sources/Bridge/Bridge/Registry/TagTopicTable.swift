/// All topics of tags.
public enum TagTopicTable {
    /// The rows, in the order in which their messages are cleared and replayed.
    public static let rows: [TopicRow] =
        [
            .availability, .connection, .battery, .batteryLevel, BatteryForecast.topic, .gear, .info,
            TouchModeTable.topic, .led,
            .rssi, .stats, ModuleDocument.topic, RadioDocument.topic, PresenceDocument.topic,
        ] + Features.topics.filter(\.isFact) + [.gesture, .touch] + Features.topics.filter { !$0.isFact }

    /// The retained topics that every tag of a bridge has.
    static func retained(_ topics: TagTopics) -> [String] {
        rows.facts { $0 == .always || $0 == .severalRadios && topics.hasRadios }.map { topics.command($0) }
    }

    /// The same, and those of features that a reload can switch on and off.
    static func all(_ topics: TagTopics) -> [String] {
        retained(topics) + rows.facts { $0 == .feature }.map { topics.command($0) }
    }
}
