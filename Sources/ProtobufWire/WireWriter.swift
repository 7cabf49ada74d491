/// Writes the fields of protobuf messages, one behind the other.
///
/// Every `write` takes an optional: nil is a field that is absent and writes nothing. Write fields in ascending order
/// of their numbers, as every known encoder does; readers do not depend on it.
///
/// Source: https://protobuf.dev/programming-guides/encoding/
public struct WireWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []

    /// Starts with nothing; 64 bytes hold every everyday message of a tag without growing.
    public init() {
        bytes.reserveCapacity(64)
    }

    /// Writes a `uint32` or the number of an enum.
    public mutating func write(_ value: UInt32?, field number: UInt32) {
        write(value.map(UInt64.init), field: number)
    }

    /// Writes a `uint64`.
    public mutating func write(_ value: UInt64?, field number: UInt32) {
        guard let value else { return }
        writeTag(number, WireType.varint)
        writeVarint(value)
    }

    /// Writes an `int32`; a negative one takes ten bytes, because it is extended to 64 bits.
    public mutating func write(_ value: Int32?, field number: UInt32) {
        write(value.map(Int64.init), field: number)
    }

    /// Writes an `int64`; a negative one takes ten bytes.
    public mutating func write(_ value: Int64?, field number: UInt32) {
        write(value.map(UInt64.init(bitPattern:)), field: number)
    }

    /// Writes a `bool` as 0 or 1.
    public mutating func write(_ value: Bool?, field number: UInt32) {
        write(value.map { $0 ? UInt64(1) : 0 }, field: number)
    }

    /// Writes a `float`.
    public mutating func write(_ value: Float?, field number: UInt32) {
        guard let value else { return }
        writeTag(number, WireType.fixed32)
        writeLittleEndian(UInt64(value.bitPattern), byteCount: 4)
    }

    /// Writes a `double`.
    public mutating func write(_ value: Double?, field number: UInt32) {
        guard let value else { return }
        writeTag(number, WireType.fixed64)
        writeLittleEndian(value.bitPattern, byteCount: 8)
    }

    /// Writes a `string` as UTF-8.
    public mutating func write(_ value: String?, field number: UInt32) {
        write(value.map { Array($0.utf8) }, field: number)
    }

    /// Writes `bytes`; none are a field of length 0, not an absent one.
    public mutating func write(_ value: [UInt8]?, field number: UInt32) {
        guard let value else { return }
        writeTag(number, WireType.lengthDelimited)
        writeVarint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Writes a message as a field.
    ///
    /// - Parameters:
    ///   - number: the field's number.
    ///   - body: writes the fields of the inner message; writing none gives a field of length 0.
    public mutating func writeMessage(field number: UInt32, _ body: (inout WireWriter) -> Void) {
        var message = WireWriter()
        body(&message)
        write(message.bytes, field: number)
    }

    /// Writes a bare varint of one to ten bytes, without a tag.
    public mutating func writeVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func writeTag(_ number: UInt32, _ type: UInt32) {
        writeVarint(UInt64(number) << 3 | UInt64(type))
    }

    private mutating func writeLittleEndian(_ value: UInt64, byteCount: UInt64) {
        for index in 0..<byteCount {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
        }
    }
}
