import ProtobufWire

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

/// Cuts packets into the fragments that a characteristic can carry.
public enum Fragmenter {
    /// Cuts one packet.
    ///
    /// - Parameters:
    ///   - packet: 1 to 1,024 bytes.
    ///   - maximumLength: bytes a fragment may have, at least 20; ``Fragment/length(mtu:)`` of the link.
    /// - Returns: the fragments in the order in which they are to be sent; all but the last are full.
    /// - Throws: ``FramingError`` for a packet or a length outside these ranges.
    public static func fragments(
        of packet: [UInt8], maximumLength: Int = Fragment.maximumLength
    ) throws(FramingError) -> [[UInt8]] {
        guard !packet.isEmpty else { throw .emptyPacket }
        guard packet.count <= Fragment.maximumPacketLength else { throw .packetTooLong(packet.count) }
        guard maximumLength >= Fragment.minimumLength else { throw .fragmentTooShort(maximumLength) }
        var fragments: [[UInt8]] = []
        var rest = packet[...]
        while !rest.isEmpty {
            var fragment = header(index: fragments.count, packetLength: packet.count)
            let data = rest.prefix(maximumLength - fragment.count)
            rest = rest[data.endIndex...]
            if rest.isEmpty { fragment[0] |= Fragment.lastFlag }
            fragments.append(fragment + data)
        }
        return fragments
    }

    private static func header(index: Int, packetLength: Int) -> [UInt8] {
        guard index == 0 else { return [UInt8(truncatingIfNeeded: index) & Fragment.counterMask] }
        var length = WireWriter()
        length.writeVarint(UInt64(packetLength))
        return [Fragment.firstFlag] + length.bytes
    }
}

/// Why a packet cannot be cut into fragments; nothing is to be sent then.
public enum FramingError: Error, Hashable, Sendable {
    /// The packet has no byte, and no fragment could carry it.
    case emptyPacket
    /// The packet has more than ``Fragment/maximumPacketLength`` bytes; how many it has.
    case packetTooLong(Int)
    /// Fragments are to be shorter than ``Fragment/minimumLength``; how long they were to be.
    case fragmentTooShort(Int)
}
