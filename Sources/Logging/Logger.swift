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
            LogRecord(level: level, label: label, message: "\(message)", metadata: metadata + variables()))
    }

    /// Writes a record of a state change, which ``CalmSink`` never suppresses. Call it only if the state has
    /// changed.
    public func change(_ level: LogLevel, _ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        guard level >= sink.level else { return }
        sink.write(
            LogRecord(
                level: level, label: label, message: "\(message)", metadata: metadata + variables(), isChange: true))
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
