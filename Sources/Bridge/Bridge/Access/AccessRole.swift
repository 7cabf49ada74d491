/// A role of a broker's user. Each role has fixed rights, and any number of users.
public enum AccessRole: String, CaseIterable, Sendable {
    /// A bridge.
    case bridge
    /// A reader of facts, such as Grafana or Telegraf.
    case dashboard
    /// A program that reacts to gestures and sends commands to tags, such as Node-RED or a script.
    case automation
    /// The administrator: all commands and requests, and the status of the broker.
    case admin
    /// Home Assistant.
    case homeAssistant = "homeassistant"
    /// `jacquard2mqtt replay-events`: publishes recorded events below a base topic of their own.
    case replay
}

/// A right to topics, and the topics as a filter of MQTT.
public struct AccessRule: Hashable, Sendable {
    /// The rights of a client to the messages of a topic.
    public enum Right: String, Sendable {
        case read
        case write
        case readWrite = "readwrite"

        /// Whether the right includes receiving messages.
        public var reads: Bool { self != .write }
        /// Whether the right includes publishing messages.
        public var writes: Bool { self != .read }
    }

    /// The right to the topics.
    public let right: Right
    /// A topic filter with the wildcards `+` and `#`.
    public let filter: String

    /// - Parameters:
    ///   - right: the right to the topics.
    ///   - filter: a topic filter.
    public init(_ right: Right, _ filter: String) {
        self.right = right
        self.filter = filter
    }

    /// Returns whether the filter matches a topic. A wildcard at the start does not match topics that begin with `$`.
    ///
    /// Source: MQTT Version 5.0, sections 4.7.1 and 4.7.2.
    public func matches(_ topic: String) -> Bool {
        let filters = filter.split(separator: "/", omittingEmptySubsequences: false)
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        if topic.hasPrefix("$"), let first = filters.first, first == "#" || first == "+" { return false }
        for (index, level) in filters.enumerated() {
            if level == "#" { return true }
            guard index < levels.count, level == "+" || level == levels[index] else { return false }
        }
        return filters.count == levels.count
    }
}
