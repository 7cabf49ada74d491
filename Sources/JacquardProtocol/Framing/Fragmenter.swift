import ProtobufWire

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
