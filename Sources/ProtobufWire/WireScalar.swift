/// A Swift type for the value of a field: the scalar types of protobuf, `string` and `bytes`.
///
/// Source: https://protobuf.dev/programming-guides/encoding/
public protocol WireScalar {
    /// Converts a value from the wire.
    ///
    /// - Returns: nil if the wire type does not fit this type. Google's parser counts such a field as unknown.
    init?(wireValue: WireField.Value)

    /// Writes the value as a field.
    func write(to writer: inout WireWriter, field number: UInt32)
}

/// `uint32`, or the number of an enum; only the low 32 bits of a varint count.
extension UInt32: WireScalar {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self.init(truncatingIfNeeded: number)
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, varint: UInt64(self))
    }
}

/// `uint64`.
extension UInt64: WireScalar {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self = number
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, varint: self)
    }
}

/// `int32`; only the low 32 bits of a varint count. A negative number takes ten bytes: it is extended to 64 bits.
extension Int32: WireScalar {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self.init(truncatingIfNeeded: number)
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        Int64(self).write(to: &writer, field: number)
    }
}

/// `int64`; a negative number takes ten bytes.
extension Int64: WireScalar {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self.init(bitPattern: number)
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, varint: UInt64(bitPattern: self))
    }
}

/// `bool`: every number but 0 reads as true; written as 0 or 1.
extension Bool: WireScalar {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self = number != 0
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, varint: self ? 1 : 0)
    }
}

/// `float`.
extension Float: WireScalar {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .fixed32(let bits) = wireValue else { return nil }
        self.init(bitPattern: bits)
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, fixed32: bitPattern)
    }
}

/// `double`.
extension Double: WireScalar {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .fixed64(let bits) = wireValue else { return nil }
        self.init(bitPattern: bits)
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, fixed64: bitPattern)
    }
}

/// `string`: bytes that are not UTF-8 become U+FFFD; proto2 does not forbid them.
extension String: WireScalar {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .bytes(let bytes) = wireValue else { return nil }
        self.init(decoding: bytes, as: UTF8.self)
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, bytes: Array(utf8))
    }
}

/// `bytes`, copied into an array of their own; an empty array is a field of length 0, not an absent one.
extension Array: WireScalar where Element == UInt8 {
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .bytes(let bytes) = wireValue else { return nil }
        self.init(bytes)
    }

    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, bytes: self)
    }
}
