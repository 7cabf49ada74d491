import JSON
import Time

/// A block of the file of recorded events: a heading and lines, in 4 KiB.
///
/// Shape: `jacquard2mqtt events 1 <sequence, 20 digits> <checksum, 20 digits> <length of the lines, 4 digits>`, a newline,
/// the lines, and zeros. The file is a ring of 1,024 blocks: the block with the sequence number n is at `n % 1024`. A block
/// that was written in part has another checksum and is left out.
public struct EventBlock: Hashable, Sendable {
    /// The size of a block in the file.
    public static let size = 4_096
    /// The number of blocks in the file.
    public static let count = 1_024
    /// The size of the file.
    public static let fileSize = size * count

    /// Its number since the file was created.
    public let sequence: UInt64
    /// The lines.
    private(set) var body: [UInt8] = []
    /// The time of its first event, in milliseconds since 1970; nil without events.
    private(set) var firstTime: Int64?
    /// The latest time of its events, in milliseconds since 1970.
    private(set) var lastTime: Int64 = 0

    private static let title = Array("jacquard2mqtt events 1 ".utf8)
    private static let (sequenceDigits, checksumDigits, lengthDigits) = (20, 20, 4)
    private static let headingSize = title.count + sequenceDigits + 1 + checksumDigits + 1 + lengthDigits + 1
    /// The room for lines.
    static let capacity = size - headingSize
    /// Larger numbers are in no file; the limit prevents an overflow.
    private static let maxSequence: UInt64 = 1 << 48

    /// Creates an empty block.
    init(sequence: UInt64) {
        self.sequence = sequence
    }

    /// Whether it has no events.
    var isEmpty: Bool { body.isEmpty }

    /// Its position in the file, in bytes.
    public var offset: Int { Self.offset(of: sequence) }

    /// The position in the file of the block with a sequence number.
    static func offset(of sequence: UInt64) -> Int { Int(sequence % UInt64(count)) * size }

    /// Adds an event.
    ///
    /// - Returns: whether it fits.
    mutating func append(_ event: RecordedEvent) -> Bool {
        let line = event.line
        guard body.count + line.count <= Self.capacity else { return false }
        body += line
        note(event)
        return true
    }

    private mutating func note(_ event: RecordedEvent) {
        firstTime = firstTime ?? event.unixMilliseconds
        lastTime = max(lastTime, event.unixMilliseconds)
    }

    /// The events. Lines that this release does not know are left out.
    var events: [RecordedEvent] {
        body.split(separator: UInt8(ascii: "\n")).compactMap { RecordedEvent(line: $0) }
    }

    /// The bytes in the file.
    public var bytes: [UInt8] {
        var bytes = Self.title
        bytes.reserveCapacity(Self.size)
        bytes.append(decimal: sequence, digits: Self.sequenceDigits)
        bytes.append(UInt8(ascii: " "))
        bytes.append(decimal: checksum, digits: Self.checksumDigits)
        bytes.append(UInt8(ascii: " "))
        bytes.append(decimal: UInt64(body.count), digits: Self.lengthDigits)
        bytes.append(UInt8(ascii: "\n"))
        bytes += body
        bytes.append(contentsOf: repeatElement(0, count: Self.size - bytes.count))
        return bytes
    }

    /// Parses a block; nil for one that is empty, damaged or not of this format.
    init?(bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.size, bytes.starts(with: Self.title) else { return nil }
        let numbers = bytes.dropFirst(Self.title.count).prefix(Self.headingSize - Self.title.count)
            .split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            .map { UInt64(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count == 3, let sequence = numbers[0], sequence <= Self.maxSequence, let length = numbers[2],
            length <= UInt64(Self.capacity)
        else { return nil }
        self.init(sequence: sequence)
        body = Array(bytes.dropFirst(Self.headingSize).prefix(Int(length)))
        // Includes the checksum.
        guard self.bytes.elementsEqual(bytes) else { return nil }
        events.forEach { note($0) }
    }

    /// The hash of the sequence number, in little-endian order, and the lines.
    private var checksum: UInt64 {
        var hash = FNV1a(stride(from: UInt64(0), to: 64, by: 8).lazy.map { UInt8(truncatingIfNeeded: sequence >> $0) })
        for byte in body { hash.add(byte) }
        return hash.value
    }
}

/// The blocks of a file of recorded events.
public struct EventBlocks: Hashable, Sendable {
    /// The intact blocks, in the order in which they were begun.
    public private(set) var blocks: [EventBlock] = []
    /// The number of blocks that are damaged, or of another format.
    public private(set) var damaged = 0

    /// Reads a file. Any bytes are accepted.
    public init(_ bytes: [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: EventBlock.size) {
            let block = bytes[start..<min(start + EventBlock.size, bytes.count)]
            if let block = EventBlock(bytes: block), block.offset == start {
                blocks.append(block)
            } else if block.contains(where: { $0 != 0 }) {
                damaged += 1
            }
        }
        blocks.sort { $0.sequence < $1.sequence }
    }
}
