internal import CSystemd
internal import Glibc
internal import JSON
internal import Synchronization

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
