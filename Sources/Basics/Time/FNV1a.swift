/// The 64-bit hash FNV-1a. Unlike the result of Swift's `Hasher`, it is the same in each process.
///
/// Source: Fowler, Noll and Vo, "The FNV Non-Cryptographic Hash Algorithm" (draft-eastlake-fnv, section 2).
public struct FNV1a: Sendable {
    /// The hash of all bytes so far.
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the hash of no bytes.
    public init() {}

    /// Creates the hash of bytes.
    public init(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { add(byte) }
    }

    /// Adds a byte.
    public mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    }
}
