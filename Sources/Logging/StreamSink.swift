internal import Glibc
internal import Synchronization

/// Writes lines to a descriptor: standard error, or whatever a test reads.
///
/// Text: `<level> label: message key=value`, with the syslog priority in front where the journal reads the stream.
/// JSON: one object a line with `level`, `label`, `message` and the variables.
public final class StreamSink: LogSink {
    /// How a line looks.
    public enum Format: Sendable {
        /// For people at a terminal.
        case text
        /// For the journal behind a stream: `<5>` in front (sd-daemon(3)).
        case journalStream
        /// For log collectors.
        case json
    }

    private let descriptor: CInt
    private let format: Format
    private let threshold: Mutex<LogLevel>

    /// A sink for a descriptor, which stays the caller's.
    public init(descriptor: CInt = 2, format: Format = .text, level: LogLevel = .info) {
        self.descriptor = descriptor
        self.format = format
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
        // What cannot be written is lost: there is nobody to tell.
        line.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    private func text(of record: LogRecord) -> String {
        switch format {
        case .text: "\(record.level.rawValue) \(record.line)"
        case .journalStream: "<\(record.level.syslogPriority)>\(record.line)"
        case .json:
            "{" + Self.fields(of: record).map { "\"\($0)\":\"\(JSONText.escaped($1))\"" }.joined(separator: ",") + "}"
        }
    }

    private static func fields(of record: LogRecord) -> [(String, String)] {
        [("level", record.level.rawValue), ("label", record.label), ("message", record.message)]
            + record.metadata.map { ($0.key.name, $0.value) }
    }
}
