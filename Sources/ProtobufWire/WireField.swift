/// One field as it was on the wire: its number, and a value whose type only the schema knows.
///
/// The `read` methods store the value if the wire type fits the variable's type and leave the variable alone if it does
/// not: like Google's parser, which counts a known number with a foreign wire type as an unknown field.
public struct WireField: Sendable {
    /// A value by its wire type.
    public enum Value: Sendable {
        /// Integers, booleans and enums.
        case varint(UInt64)
        /// `double` and the 64-bit integers of fixed length.
        case fixed64(UInt64)
        /// `float` and the 32-bit integers of fixed length.
        case fixed32(UInt32)
        /// Text, bytes and messages; shares the memory of what is being read.
        case bytes(ArraySlice<UInt8>)
    }

    /// The field's number, 1 to 536,870,911.
    public let number: UInt32
    /// What it holds.
    public let value: Value

    /// Puts both together.
    @inlinable
    public init(number: UInt32, value: Value) {
        self.number = number
        self.value = value
    }

    /// A reader for the fields of the message in this field; nil if the wire type is not that of a message.
    @inlinable
    public var message: WireReader? {
        guard case .bytes(let bytes) = value else { return nil }
        return WireReader(bytes)
    }

    @inlinable
    var varint: UInt64? {
        guard case .varint(let number) = value else { return nil }
        return number
    }
}

extension WireField {
    /// Reads a `uint32` or the number of an enum; only the low 32 bits count.
    @inlinable
    public func read(_ variable: inout UInt32?) {
        if let varint { variable = UInt32(truncatingIfNeeded: varint) }
    }

    /// Reads a `uint64`.
    @inlinable
    public func read(_ variable: inout UInt64?) {
        if let varint { variable = varint }
    }

    /// Reads an `int32`; only the low 32 bits count.
    @inlinable
    public func read(_ variable: inout Int32?) {
        if let varint { variable = Int32(truncatingIfNeeded: varint) }
    }

    /// Reads an `int64`.
    @inlinable
    public func read(_ variable: inout Int64?) {
        if let varint { variable = Int64(truncatingIfNeeded: varint) }
    }

    /// Reads a `bool`; every number but 0 is true.
    @inlinable
    public func read(_ variable: inout Bool?) {
        if let varint { variable = varint != 0 }
    }

    /// Reads a `float`.
    public func read(_ variable: inout Float?) {
        if case .fixed32(let bits) = value { variable = Float(bitPattern: bits) }
    }

    /// Reads a `double`.
    public func read(_ variable: inout Double?) {
        if case .fixed64(let bits) = value { variable = Double(bitPattern: bits) }
    }

    /// Reads a `string`; bytes that are not UTF-8 become U+FFFD, as proto2 does not forbid them.
    public func read(_ variable: inout String?) {
        if case .bytes(let bytes) = value { variable = String(decoding: bytes, as: UTF8.self) }
    }

    /// Reads `bytes` into an array of their own.
    public func read(_ variable: inout [UInt8]?) {
        if case .bytes(let bytes) = value { variable = Array(bytes) }
    }
}
