/// Writes records of one part of the program to a sink. A value: copies add metadata of their own.
///
/// The message is fixed text and what varies is metadata, so that a line can be searched for and counted.
public struct Logger: Sendable {
    private let sink: any LogSink
    private let label: String
    private var metadata: [Metadata] = []

    /// A variable of a record.
    public typealias Metadata = (key: LogKey, value: String)

    /// A logger for a part of the program.
    ///
    /// - Parameters:
    ///   - label: the part, such as `mqtt`.
    ///   - sink: where its records go.
    public init(_ label: String, to sink: any LogSink) {
        self.label = label
        self.sink = sink
    }

    /// This logger, with a variable in each of its records.
    public func with(_ key: LogKey, _ value: String) -> Logger {
        var copy = self
        copy.metadata.append((key, value))
        return copy
    }

    /// Another part's logger, with the same sink.
    public func labelled(_ label: String) -> Logger {
        var copy = Logger(label, to: sink)
        copy.metadata = metadata
        return copy
    }

    /// Writes a record; its variables are not even made when the level is below the sink's.
    public func log(_ level: LogLevel, _ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        guard level >= sink.level else { return }
        sink.write(
            LogRecord(level: level, label: label, message: "\(message)", metadata: metadata + variables()))
    }

    /// Writes a record of a change of state, which no ``CalmSink`` holds back: whoever writes it sees to it that it is one.
    public func change(_ level: LogLevel, _ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        guard level >= sink.level else { return }
        sink.write(
            LogRecord(
                level: level, label: label, message: "\(message)", metadata: metadata + variables(), isChange: true))
    }

    /// Writes a record of every step.
    public func trace(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.trace, message, variables())
    }

    /// Writes a record for developers.
    public func debug(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.debug, message, variables())
    }

    /// Writes a record of ordinary work.
    public func info(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.info, message, variables())
    }

    /// Writes a record for operators.
    public func notice(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.notice, message, variables())
    }

    /// Writes a record of something wrong.
    public func warning(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.warning, message, variables())
    }

    /// Writes a record of a failure.
    public func error(_ message: StaticString, _ variables: @autoclosure () -> [Metadata] = []) {
        log(.error, message, variables())
    }
}
