internal import CSystemd
internal import Glibc
internal import JSON
internal import Synchronization

/// Writes to the systemd journal with a field for each variable (`journalctl JACQUARD_TAG=003R`).
public final class JournalSink: LogSink {
    private let threshold: Mutex<LogLevel>

    /// A sink for the journal of this machine.
    public init(level: LogLevel = .info) {
        threshold = Mutex(level)
    }

    /// Whether standard error already goes to the journal, so that its fields can be used instead (systemd.exec(5)).
    ///
    /// - Parameter stream: the value of `JOURNAL_STREAM`, `device:inode` of the stream.
    /// - Returns: false when the variable is missing or names another stream.
    public static func isBehindStandardError(_ stream: String?) -> Bool {
        var information = stat()
        guard let stream, fstat(STDERR_FILENO, &information) == 0 else { return false }
        return stream == "\(information.st_dev):\(information.st_ino)"
    }

    /// The present threshold.
    public var level: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// Sends the record with its variables as fields.
    public func write(_ record: LogRecord) {
        send(Self.fields(of: record).map { Array($0.utf8) })
    }

    /// The fields of a record, `NAME=value` each. `journalctl` prints them as they are.
    static func fields(of record: LogRecord) -> [String] {
        ["MESSAGE=\(record.line)", "PRIORITY=\(record.level.syslogPriority)", "JACQUARD_PART=\(record.label)"]
            + record.metadata.map { "JACQUARD_\($0.key.name.uppercased())=\(TerminalText.escaped($0.value))" }
    }

    private func send(_ fields: [[UInt8]]) {
        // The journal reads the fields while the call lasts; the one buffer outlives it.
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
