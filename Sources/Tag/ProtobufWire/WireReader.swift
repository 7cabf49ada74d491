/// Reads the fields of one protobuf message, in the order in which they are on the wire.
///
/// The bytes may come from anyone: whatever they are, the reader gives fields, nil at the end, or an error. It copies
/// nothing; a field's bytes are a slice of the message. After an error the reader is of no further use.
///
/// It is inlinable because a notification is read by it field by field: across the module boundary a gesture took 180
/// ns, inlined it takes 100.
///
/// Source: https://protobuf.dev/programming-guides/encoding/
public struct WireReader: Sendable {
    @usableFromInline let bytes: ArraySlice<UInt8>
    @usableFromInline var position: Int

    /// Reads a message that fills these bytes; none at all are a message without fields.
    @inlinable
    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The bytes that have not been read yet.
    @inlinable
    public var remaining: ArraySlice<UInt8> { bytes[position...] }

    /// Reads the next field with its value.
    ///
    /// - Returns: nil at the end of the message.
    /// - Throws: ``ProtobufWireError`` if what follows is no field.
    @inlinable
    public mutating func nextField() throws(ProtobufWireError) -> WireField? {
        guard position < bytes.endIndex else { return nil }
        let tag = try readVarint()
        guard tag >> 3 > 0, let tag = UInt32(exactly: tag) else { throw .invalidFieldNumber }
        return WireField(number: tag >> 3, value: try readValue(type: tag & 7))
    }

    /// Reads a varint of one to ten bytes; of the tenth only the lowest bit counts, as in Google's parser.
    ///
    /// - Throws: ``ProtobufWireError/truncated`` or ``ProtobufWireError/varintTooLong``.
    @inlinable
    public mutating func readVarint() throws(ProtobufWireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 70 {
            guard position < bytes.endIndex else { throw .truncated }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw .varintTooLong
    }

    @usableFromInline
    mutating func readValue(type: UInt32) throws(ProtobufWireError) -> WireField.Value {
        switch type {
        case WireType.varint: .varint(try readVarint())
        case WireType.fixed64: .fixed64(try readLittleEndian(byteCount: 8))
        case WireType.lengthDelimited: .bytes(try readBytes(count: try readVarint()))
        case WireType.fixed32: .fixed32(UInt32(truncatingIfNeeded: try readLittleEndian(byteCount: 4)))
        default: throw .unsupportedWireType(UInt8(truncatingIfNeeded: type))
        }
    }

    private mutating func readLittleEndian(byteCount: UInt64) throws(ProtobufWireError) -> UInt64 {
        try readBytes(count: byteCount).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func readBytes(count: UInt64) throws(ProtobufWireError) -> ArraySlice<UInt8> {
        // Compared as UInt64: a length from the air may be too large for Int.
        guard count <= UInt64(bytes.endIndex - position) else { throw .truncated }
        let start = position
        position += Int(count)
        return bytes[start..<position]
    }
}
