/// The facts of a fragment, which is what one value of a characteristic carries.
///
/// Shape of the first fragment of a packet: `[header][length of the whole packet, varint][data]`; of the others:
/// `[header][data]`. Header: bit 7 first, bit 6 last, bits 0 to 5 a counter from 0.
/// Source: JacquardSDKiOS, `Fragmenter.swift`; protocol article, "Framing".
public enum Fragment {
    /// The longest packet, in bytes.
    public static let maximumPacketLength = 1024
    /// The longest fragment of protocol version 2, in bytes: an MTU of 64 less the three bytes of ATT.
    public static let maximumLength = 61
    /// The longest fragment at Bluetooth's smallest MTU of 23, in bytes. Below it the counter could wrap around.
    public static let minimumLength = 20

    /// The longest fragment that a link carries.
    ///
    /// - Parameter mtu: the link's ATT MTU in bytes, of which a write or a notification takes three for its header.
    /// - Returns: ``minimumLength`` to ``maximumLength``: more than 61 bytes are of another protocol version, and no link
    ///   has an MTU below 23.
    public static func length(mtu: Int) -> Int {
        let attributeHeader = 3
        // Compared first: an MTU is what the other side says, and a difference could overflow.
        return min(max(mtu, minimumLength + attributeHeader), maximumLength + attributeHeader) - attributeHeader
    }

    static let firstFlag: UInt8 = 0x80
    static let lastFlag: UInt8 = 0x40
    static let counterMask: UInt8 = 0x3F
}
