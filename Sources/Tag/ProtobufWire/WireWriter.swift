/// Writes the fields of protobuf messages one after the other.
///
/// Write fields in ascending order of their numbers, as every known encoder does; readers do not depend on it.
///
/// Source: https://protobuf.dev/programming-guides/encoding/
public struct WireWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty writer with room for 64 bytes, which hold every common message of a tag.
    public init() {
        bytes.reserveCapacity(64)
    }

    /// Writes a field; nil is an absent field and writes nothing.
    @inlinable
    public mutating func write<Scalar: WireScalar>(_ value: Scalar?, field number: UInt32) {
        value?.write(to: &self, field: number)
    }

    /// Writes a message as a field.
    ///
    /// - Parameters:
    ///   - number: the field's number.
    ///   - body: writes the fields of the inner message; writing none gives a field of length 0.
    public mutating func writeMessage(field number: UInt32, _ body: (inout WireWriter) -> Void) {
        writeTag(number, WireType.lengthDelimited)
        let start = bytes.count
        // One byte for the length, which most messages need; a longer one moves the message.
        bytes.append(0)
        body(&self)
        let length = bytes.count - start - 1
        guard length >= 0x80 else {
            bytes[start] = UInt8(truncatingIfNeeded: length)
            return
        }
        var prefix: [UInt8] = []
        prefix.append(varint: UInt64(length))
        bytes.replaceSubrange(start...start, with: prefix)
    }

    /// Writes a bare varint of one to ten bytes, without a tag.
    public mutating func writeVarint(_ value: UInt64) {
        bytes.append(varint: value)
    }

    mutating func writeField(_ number: UInt32, varint value: UInt64) {
        writeTag(number, WireType.varint)
        writeVarint(value)
    }

    mutating func writeField(_ number: UInt32, fixed32 value: UInt32) {
        writeTag(number, WireType.fixed32)
        writeLittleEndian(UInt64(value), byteCount: 4)
    }

    mutating func writeField(_ number: UInt32, fixed64 value: UInt64) {
        writeTag(number, WireType.fixed64)
        writeLittleEndian(value, byteCount: 8)
    }

    mutating func writeField(_ number: UInt32, bytes value: [UInt8]) {
        writeTag(number, WireType.lengthDelimited)
        writeVarint(UInt64(value.count))
        bytes.append(contentsOf: value)
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

extension [UInt8] {
    /// Appends a varint of one to ten bytes.
    @inlinable
    public mutating func append(varint value: UInt64) {
        // Most are one byte: a tag, a length, a small number.
        guard value >= 0x80 else { return append(UInt8(truncatingIfNeeded: value)) }
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}
