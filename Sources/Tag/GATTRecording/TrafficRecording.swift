public import JSON

/// A recording of the Bluetooth traffic with one tag.
///
/// Format: text with one JSON document on each line. The first line is the header,
/// `{"format":"jacquard-gatt","version":1}`; each further line is a ``TrafficRecord`` with increasing `n`. The
/// recording ends at the end of the text, or at a line that begins with `== `, the next section of a report. Lines
/// before the header are ignored.
public struct TrafficRecording: Hashable, Sendable {
    /// The records in order of `n`.
    public var records: [TrafficRecord]

    /// The value of `format` in the header.
    static let format = "jacquard-gatt"
    /// The value of `version` in the header.
    static let version: Int64 = 1
    /// The number of records after which a recording ends.
    public static let maxRecords = 50_000
    /// The number of bytes of recorded values after which a recording ends.
    public static let maxValueBytes = 2 << 20
    /// The longest text that is parsed, in bytes.
    public static let maxTextBytes = 16 << 20

    /// Creates a recording.
    public init(records: [TrafficRecord]) {
        self.records = records
    }

    /// The first line of a recording.
    public static let header: JSONValue = ["format": .string(format), "version": .integer(version)]

    /// The recording as text that ends with a newline.
    public var text: String {
        ([Self.header] + records.map(\.document)).map { $0.text + "\n" }.joined()
    }

    /// Number of records that are missing between the first and the last one.
    public var lost: Int {
        guard let last = records.last else { return 0 }
        return last.number - records.count
    }
}

/// Why a text is not a recording. Lines are counted from 1.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence that says what is wrong and what is allowed.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension TrafficRecording {
    /// Parses a recording, or the recording in a report.
    ///
    /// - Parameter bytes: UTF-8.
    /// - Throws: ``RecordingError``, which names the line.
    public init(parsing bytes: [UInt8]) throws(RecordingError) {
        guard bytes.count <= Self.maxTextBytes else {
            throw RecordingError("the recording is longer than \(Self.maxTextBytes >> 20) MiB")
        }
        var records: [TrafficRecord] = []
        var hasHeader = false
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if hasHeader {
                if line.starts(with: Array("== ".utf8)) { break }
                guard !line.isEmpty, line != [UInt8(ascii: "\r")] else { continue }
                records.append(try Self.record(line, after: records.last, line: index + 1))
            } else {
                hasHeader = try Self.isHeader(line, line: index + 1)
            }
        }
        guard hasHeader else {
            throw RecordingError(#"there is no recording: no line is {"format":"jacquard-gatt","version":1}"#)
        }
        self.init(records: records)
    }

    /// Returns whether a line is the header of a version that this program reads.
    private static func isHeader(_ line: ArraySlice<UInt8>, line number: Int) throws(RecordingError) -> Bool {
        guard line.count < 1_024, let document = JSONValue(parsing: Array(line)),
            document["format"]?.string == format
        else { return false }
        guard document["version"]?.integer == version else {
            let found = document["version"]?.word ?? "none"
            throw RecordingError("line \(number): version \(found) of the recording; this program reads version 1")
        }
        return true
    }

    private static func record(
        _ line: ArraySlice<UInt8>, after last: TrafficRecord?, line number: Int
    ) throws(RecordingError) -> TrafficRecord {
        guard line.count <= 4_096, let document = JSONValue(parsing: Array(line)), let record = TrafficRecord(document)
        else {
            throw RecordingError(
                "line \(number): not a record; a record is a JSON object with n, t_us, event and the keys of the event")
        }
        guard record.number > last?.number ?? 0, record.microseconds >= last?.microseconds ?? 0 else {
            throw RecordingError("line \(number): n and t_us must increase from line to line")
        }
        return record
    }
}
