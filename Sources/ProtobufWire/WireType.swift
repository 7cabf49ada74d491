/// How a field's value is laid out: the low three bits of its tag.
///
/// Source: https://protobuf.dev/programming-guides/encoding/#structure
enum WireType {
    /// Seven bits a byte, low group first, top bit set while more follow.
    static let varint: UInt32 = 0
    /// Eight bytes, low byte first.
    static let fixed64: UInt32 = 1
    /// A varint with the length, then so many bytes.
    static let lengthDelimited: UInt32 = 2
    /// Four bytes, low byte first.
    static let fixed32: UInt32 = 5
}
