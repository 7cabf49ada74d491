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

/// The `uint32` of protobuf, and the number of an enum.
extension UInt32: WireScalar {
    /// Reads a varint; only its low 32 bits count.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self.init(truncatingIfNeeded: number)
    }

    /// Writes a varint.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, varint: UInt64(self))
    }
}

/// The `uint64` of protobuf.
extension UInt64: WireScalar {
    /// Reads a varint.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self = number
    }

    /// Writes a varint.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, varint: self)
    }
}

/// The `int32` of protobuf.
extension Int32: WireScalar {
    /// Reads a varint; only its low 32 bits count.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self.init(truncatingIfNeeded: number)
    }

    /// Writes a varint; a negative number is extended to 64 bits and takes ten bytes.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        Int64(self).write(to: &writer, field: number)
    }
}

/// The `int64` of protobuf.
extension Int64: WireScalar {
    /// Reads a varint.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self.init(bitPattern: number)
    }

    /// Writes a varint; a negative number takes ten bytes.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, varint: UInt64(bitPattern: self))
    }
}

/// The `bool` of protobuf.
extension Bool: WireScalar {
    /// Reads a varint; every number but 0 is true.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .varint(let number) = wireValue else { return nil }
        self = number != 0
    }

    /// Writes a varint, 0 or 1.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, varint: self ? 1 : 0)
    }
}

/// The `float` of protobuf.
extension Float: WireScalar {
    /// Reads the bits of a `fixed32`.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .fixed32(let bits) = wireValue else { return nil }
        self.init(bitPattern: bits)
    }

    /// Writes a `fixed32`.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, fixed32: bitPattern)
    }
}

/// The `double` of protobuf.
extension Double: WireScalar {
    /// Reads the bits of a `fixed64`.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .fixed64(let bits) = wireValue else { return nil }
        self.init(bitPattern: bits)
    }

    /// Writes a `fixed64`.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, fixed64: bitPattern)
    }
}

/// The `string` of protobuf.
extension String: WireScalar {
    /// Reads bytes; those that are not UTF-8 become U+FFFD, because proto2 does not forbid them.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .bytes(let bytes) = wireValue else { return nil }
        self.init(decoding: bytes, as: UTF8.self)
    }

    /// Writes its UTF-8.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, bytes: Array(utf8))
    }
}

/// The `bytes` of protobuf.
extension Array: WireScalar where Element == UInt8 {
    /// Reads bytes, which are copied.
    @inlinable
    public init?(wireValue: WireField.Value) {
        guard case .bytes(let bytes) = wireValue else { return nil }
        self.init(bytes)
    }

    /// Writes a field of that length, which may be 0.
    public func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeField(number, bytes: self)
    }
}
