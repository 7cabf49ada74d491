public import Text

/// Writes the records of one part of the program to a sink. A value type: copies can have additional metadata.
///
/// The message is fixed text and variables are metadata, so that records can be searched for and counted.
public struct Logger: Sendable {
    private let sink: any LogSink
    private let label: String
    private var metadata: [Metadata] = []

    /// A variable of a record.
    public typealias Metadata = (key: LogKey, value: String)

    /// Creates a logger for a part of the program.
    ///
    /// - Parameters:
    ///   - label: the part, such as `mqtt`.
    ///   - sink: the destination of its records.
    public init(_ label: String, to sink: any LogSink) {
        self.label = label
        self.sink = sink
    }

    /// Returns a copy of this logger that adds a variable to each record.
    public func with(_ key: LogKey, _ value: String) -> Logger {
        var copy = self
        copy.metadata.append((key, value))
        return copy
    }

    /// Returns a copy of this logger for another part of the program.
    public func labelled(_ label: String) -> Logger {
        var copy = Logger(label, to: sink)
        copy.metadata = metadata
        return copy
    }

    /// Writes a record. The variables are not evaluated if the level is below the sink's threshold.
    public func log(_ level: LogLevel, _ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        guard level >= sink.level else { return }
        sink.write(
            LogRecord(level: level, label: label, message: message.description, metadata: metadata + variables()))
    }

    /// Writes a record of a state change, which ``CalmSink`` never suppresses. Call it only if the state has changed.
    public func change(_ level: LogLevel, _ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        guard level >= sink.level else { return }
        sink.write(
            LogRecord(
                level: level, label: label, message: message.description, metadata: metadata + variables(),
                isChange: true))
    }

    /// Writes a record of level `trace`.
    public func trace(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.trace, message, variables())
    }

    /// Writes a record of level `debug`.
    public func debug(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.debug, message, variables())
    }

    /// Writes a record of level `info`.
    public func info(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.info, message, variables())
    }

    /// Writes a record of level `notice`.
    public func notice(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.notice, message, variables())
    }

    /// Writes a record of level `warning`.
    public func warning(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.warning, message, variables())
    }

    /// Writes a record of level `error`.
    public func error(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.error, message, variables())
    }
}

/// The name of a variable in a log record. All keys are declared here, so that each variable has one name.
///
/// In the journal the key is an upper-case field with the prefix `JACQUARD_`.
public struct LogKey: Hashable, Sendable {
    /// Lower case, words joined by underscores.
    public let name: String

    private init(_ name: String) {
        self.name = name
    }

    /// The address of a Bluetooth device.
    public static let address = LogKey("address")
    /// How long something took, in milliseconds.
    public static let after = LogKey("after_ms")
    /// Which attempt this is, from 1.
    public static let attempt = LogKey("attempt")
    /// The command that a tag executes, such as `haptic`.
    public static let command = LogKey("command")
    /// The error code of the MQTT contract.
    public static let code = LogKey("code")
    /// A bus, broker or file.
    public static let endpoint = LogKey("endpoint")
    /// The error text of a library or the kernel.
    public static let error = LogKey("error")
    /// The name of a piece of gear, or its numbers.
    public static let gear = LogKey("gear")
    /// The `event_type` of a gesture.
    public static let gesture = LogKey("gesture")
    /// The member of a D-Bus call or signal.
    public static let member = LogKey("member")
    /// An object on the bus.
    public static let path = LogKey("path")
    /// A file descriptor, count or other number.
    public static let count = LogKey("count")
    /// The id of a process.
    public static let process = LogKey("pid")
    /// The name of a radio, if there are several.
    public static let radio = LogKey("radio")
    /// Why something was done.
    public static let reason = LogKey("reason")
    /// The number of suppressed records since the last one of the same condition.
    public static let repeated = LogKey("repeated")
    /// Time until the next attempt, in milliseconds.
    public static let retryIn = LogKey("retry_in_ms")
    /// A key of the configuration.
    public static let setting = LogKey("setting")
    /// A state that was entered.
    public static let state = LogKey("state")
    /// The id of a tag.
    public static let tag = LogKey("tag")
    /// An MQTT topic.
    public static let topic = LogKey("topic")
    /// The name of a user.
    public static let user = LogKey("user")
    /// The version of a peer.
    public static let version = LogKey("version")
}
