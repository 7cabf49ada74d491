/// The checksum of motion files and firmware images: CRC-16/XMODEM.
///
/// Polynomial 0x1021, initial value 0, most significant bit first, no final change. Source: JacquardSDKAndroid,
/// `CrcUtils`; JacquardSDKiOS passes the initial value 0 in every call.
public struct CRC16: Hashable, Sendable {
    /// The checksum of the bytes so far.
    public private(set) var value: UInt16 = 0

    /// Creates the checksum of no bytes.
    public init() {}

    /// Adds bytes.
    public mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            value ^= UInt16(byte) << 8
            for _ in 0..<8 { value = value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021 }
        }
    }

    /// The checksum of bytes.
    public static func of(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var checksum = CRC16()
        checksum.add(bytes)
        return checksum.value
    }
}
