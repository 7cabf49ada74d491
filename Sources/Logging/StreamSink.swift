internal import Glibc
internal import JSON
internal import Synchronization

/// Writes lines to a descriptor, such as standard error.
///
/// Text: `time level label: message key=value`; with the syslog priority in place of time and level where the journal reads the
/// stream. JSON: one object a line with `time`, `level`, `label`, `message` and the variables. Control characters and characters
/// that turn the direction of writing are escaped.
public final class StreamSink: LogSink {
    /// How a line looks.
    public enum Format: Sendable {
        /// For people at a terminal.
        case text
        /// For the journal behind a stream, which adds the time: `<5>` in front (sd-daemon(3)).
        case journalStream
        /// For log collectors.
        case json
    }

    private let descriptor: CInt
    private let format: Format
    private let timeStamp: (@Sendable () -> String)?
    private let threshold: Mutex<LogLevel>

    /// A sink for a descriptor, which stays the caller's.
    ///
    /// - Parameters:
    ///   - descriptor: where lines are written.
    ///   - format: how a line looks.
    ///   - level: the threshold.
    ///   - timeStamp: the present as RFC 3339 has it; nil leaves it out.
    public init(
        descriptor: CInt = 2, format: Format = .text, level: LogLevel = .info,
        timeStamp: (@Sendable () -> String)? = nil
    ) {
        self.descriptor = descriptor
        self.format = format
        self.timeStamp = timeStamp
        threshold = Mutex(level)
    }

    /// The present threshold.
    public var level: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// Writes one line with one call, so that lines of several threads do not mix.
    public func write(_ record: LogRecord) {
        var line = text(of: record) + "\n"
        // There is no other place for a line that cannot be written.
        line.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    private func text(of record: LogRecord) -> String {
        switch format {
        case .text: (timeStamp.map { $0() + " " } ?? "") + "\(record.level.rawValue) \(record.line)"
        case .journalStream: "<\(record.level.syslogPriority)>\(record.line)"
        case .json:
            "{" + fields(of: record).map { "\"\($0)\":\(TerminalText.quoted($1))" }.joined(separator: ",") + "}"
        }
    }

    private func fields(of record: LogRecord) -> [(String, String)] {
        (timeStamp.map { [("time", $0())] } ?? [])
            + [("level", record.level.rawValue), ("label", record.label), ("message", record.message)]
            + record.metadata.map { ($0.key.name, $0.value) }
    }
}
