internal import CSystemd
internal import Glibc
internal import JSON
internal import Synchronization

/// Writes records as lines to a descriptor, such as standard error.
///
/// Text: `time level label: message key=value`. For the journal, a syslog priority replaces time and level. JSON: one
/// object per line with `time`, `level`, `label`, `message` and the variables. Control characters and bidirectional
/// formatting characters are escaped.
public final class StreamSink: LogSink {
    /// The format of a line.
    public enum Format: Sendable {
        /// For people at a terminal.
        case text
        /// For a stream that the journal reads: with a prefix such as `<5>` (sd-daemon(3)), without a time.
        case journalStream
        /// For log collectors.
        case json
    }

    private let descriptor: CInt
    private let format: Format
    private let timeStamp: (@Sendable () -> String)?
    private let threshold: Mutex<LogLevel>

    /// Creates a sink for a descriptor. The caller owns the descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor to write to.
    ///   - format: the format of a line.
    ///   - level: the threshold.
    ///   - timeStamp: returns the current time in the format of RFC 3339; nil for lines without a time.
    public init(
        descriptor: CInt = 2, format: Format = .text, level: LogLevel = .info,
        timeStamp: (@Sendable () -> String)? = nil
    ) {
        self.descriptor = descriptor
        self.format = format
        self.timeStamp = timeStamp
        threshold = Mutex(level)
    }

    /// The current threshold.
    public var level: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// Writes the line with one system call, so that lines of several threads do not mix.
    public func write(_ record: LogRecord) {
        var line = text(of: record) + "\n"
        // Ignored: there is no other place to report the error.
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

/// Writes records to the systemd journal with a field for each variable (`journalctl JACQUARD_TAG=003R`).
public final class JournalSink: LogSink {
    private let threshold: Mutex<LogLevel>

    /// Creates a sink for the journal of this machine.
    public init(level: LogLevel = .info) {
        threshold = Mutex(level)
    }

    /// Whether standard error is connected to the journal (systemd.exec(5)), so that this sink can replace it.
    ///
    /// - Parameter stream: the value of `JOURNAL_STREAM`: `device:inode` of the stream.
    /// - Returns: false if the variable is missing or identifies another stream.
    public static func isBehindStandardError(_ stream: String?) -> Bool {
        var information = stat()
        guard let stream, fstat(STDERR_FILENO, &information) == 0 else { return false }
        return stream == "\(information.st_dev):\(information.st_ino)"
    }

    /// The current threshold.
    public var level: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// Sends the record with its variables as fields.
    public func write(_ record: LogRecord) {
        send(Self.fields(of: record).map { Array($0.utf8) })
    }

    /// The fields of a record, each `NAME=value`. Escaped, because `journalctl` prints them unchanged.
    static func fields(of record: LogRecord) -> [String] {
        ["MESSAGE=\(record.line)", "PRIORITY=\(record.level.syslogPriority)", "JACQUARD_PART=\(record.label)"]
            + record.metadata.map { "JACQUARD_\($0.key.name.uppercased())=\(TerminalText.escaped($0.value))" }
    }

    private func send(_ fields: [[UInt8]]) {
        // The fields point into one buffer that outlives the call.
        let bytes = Array(fields.joined())
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            let parts = fields.map { field in
                defer { offset += field.count }
                return iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress?.advanced(by: offset)),
                    iov_len: field.count)
            }
            sd_journal_sendv(parts, CInt(parts.count))
        }
    }
}
