internal import CSystemd
internal import Glibc
internal import JSON
internal import Synchronization
public import Text

/// Writes records as lines to a descriptor, such as standard error.
///
/// Text: `time level label: message key=value`. For the journal, a syslog priority replaces time and level. JSON: one
/// object per line with `time`, `level`, `label`, `message` and the variables. Control characters and bidirectional
/// formatting characters are escaped.
///
/// Never blocks. While the descriptor accepts nothing, lines are dropped; a line with their number follows.
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

    private let descriptor: NonBlockingDescriptor
    private let output = Mutex(LossyOutput())
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
    public convenience init(
        descriptor: CInt = 2, format: Format = .text, level: LogLevel = .info,
        timeStamp: (@Sendable () -> String)? = nil
    ) {
        self.init(NonBlockingDescriptor(descriptor), format: format, level: level, timeStamp: timeStamp)
    }

    /// Creates a sink for a descriptor that does not block.
    init(
        _ descriptor: NonBlockingDescriptor, format: Format = .text, level: LogLevel = .info,
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

    /// Writes the line with one system call, so that lines of several processes do not mix.
    public func write(_ record: LogRecord) {
        let line = line(of: record)
        output.withLock { output in
            output.write(line, note: { self.line(of: .dropped($0)) }, send: { descriptor.write($0) })
        }
    }

    private func line(of record: LogRecord) -> [UInt8] { Array((text(of: record) + "\n").utf8) }

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
///
/// Never blocks. While the journal accepts nothing, records are dropped; a record with their number follows.
public final class JournalSink: LogSink {
    private let threshold: Mutex<LogLevel>
    private let socket: JournalSocket
    private let output = Mutex(LossyOutput())

    /// Creates a sink for the journal of this machine.
    public convenience init(level: LogLevel = .info) {
        self.init(level: level, path: "/run/systemd/journal/socket")
    }

    /// Creates a sink for the socket of a journal.
    init(level: LogLevel, path: String) {
        threshold = Mutex(level)
        socket = JournalSocket(path: path)
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
        let bytes = Self.message(of: record)
        output.withLock { output in
            output.write(bytes, note: { Self.message(of: .dropped($0)) }, send: { socket.send($0) })
        }
    }

    /// The fields of a record, each `NAME=value`. Escaped, because `journalctl` prints them unchanged.
    static func fields(of record: LogRecord) -> [String] {
        ["MESSAGE=\(record.line)", "PRIORITY=\(record.level.syslogPriority)", "JACQUARD_PART=\(record.label)"]
            + record.metadata.map { "JACQUARD_\($0.key.name.uppercased())=\(TerminalText.escaped($0.value))" }
    }

    /// A line for each field. No field contains a newline, which would require the binary form.
    private static func message(of record: LogRecord) -> [UInt8] {
        let identifier = "SYSLOG_IDENTIFIER=" + String(cString: process_name())
        return Array((fields(of: record) + [identifier]).flatMap { Array(($0 + "\n").utf8) })
    }
}
