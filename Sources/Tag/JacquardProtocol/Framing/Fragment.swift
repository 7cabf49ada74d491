import ProtobufWire

/// Format of a fragment. One value of a characteristic carries one fragment.
///
/// Shape of the first fragment of a packet: `[header][length of the whole packet, varint][data]`; of the others:
/// `[header][data]`. Header: bit 7 first, bit 6 last, bits 0 to 5 a counter from 0. Source: JacquardSDKiOS,
/// `Fragmenter.swift`; protocol article, "Framing".
public enum Fragment {
    /// The longest packet, in bytes.
    public static let maximumPacketLength = 1024
    /// The longest fragment of protocol version 2, in bytes: an MTU of 64 minus the ATT header of three bytes.
    public static let maximumLength = 61
    /// The longest fragment at Bluetooth's smallest MTU of 23, in bytes. With shorter fragments the counter could wrap
    /// around.
    public static let minimumLength = 20

    /// Returns the longest fragment that a link carries.
    ///
    /// - Parameter mtu: the link's ATT MTU in bytes, including three bytes for the header of a write or notification.
    /// - Returns: ``minimumLength`` to ``maximumLength``. Longer fragments belong to another protocol version, and no
    ///   link has an MTU below 23.
    public static func length(mtu: Int) -> Int {
        let attributeHeader = 3
        // Clamped before the subtraction: the peer chooses the MTU, and the difference could overflow.
        return min(max(mtu, minimumLength + attributeHeader), maximumLength + attributeHeader) - attributeHeader
    }

    static let firstFlag: UInt8 = 0x80
    static let lastFlag: UInt8 = 0x40
    static let counterMask: UInt8 = 0x3F
}

/// Splits a packet into fragments, in the order of sending. All but the last have the maximum length.
///
/// They are made one by one: most packets are one fragment.
public struct Fragmenter: Sequence, IteratorProtocol, Sendable {
    private let packet: [UInt8]
    private let maximumLength: Int
    /// The number of fragments so far.
    private var count = 0
    /// The number of bytes of the packet in them.
    private var sent = 0

    /// Starts before the first fragment.
    ///
    /// - Parameters:
    ///   - packet: 1 to 1,024 bytes.
    ///   - maximumLength: the maximum length of a fragment in bytes, at least 20; ``Fragment/length(mtu:)`` of the
    ///     link.
    /// - Throws: ``FramingError`` for a packet or a length outside these ranges.
    public init(of packet: [UInt8], maximumLength: Int = Fragment.maximumLength) throws(FramingError) {
        guard !packet.isEmpty else { throw .emptyPacket }
        guard packet.count <= Fragment.maximumPacketLength else { throw .packetTooLong(packet.count) }
        guard maximumLength >= Fragment.minimumLength else { throw .fragmentTooShort(maximumLength) }
        (self.packet, self.maximumLength) = (packet, maximumLength)
    }

    /// Splits a packet at once, see ``init(of:maximumLength:)``.
    public static func fragments(
        of packet: [UInt8], maximumLength: Int = Fragment.maximumLength
    ) throws(FramingError) -> [[UInt8]] {
        Array(try Fragmenter(of: packet, maximumLength: maximumLength))
    }

    /// Returns the next fragment; nil after the last one.
    public mutating func next() -> [UInt8]? {
        guard sent < packet.count else { return nil }
        var fragment: [UInt8] = []
        fragment.reserveCapacity(Swift.min(maximumLength, packet.count - sent + Self.longestHeader))
        appendHeader(to: &fragment)
        let end = Swift.min(packet.count, sent + maximumLength - fragment.count)
        if end == packet.count { fragment[0] |= Fragment.lastFlag }
        fragment.append(contentsOf: packet[sent..<end])
        (count, sent) = (count + 1, end)
        return fragment
    }

    /// The header byte, and the length of a packet of ``Fragment/maximumPacketLength``.
    private static let longestHeader = 3

    private func appendHeader(to fragment: inout [UInt8]) {
        guard count == 0 else { return fragment.append(UInt8(truncatingIfNeeded: count) & Fragment.counterMask) }
        fragment.append(Fragment.firstFlag)
        fragment.append(varint: UInt64(packet.count))
    }
}

/// Why a packet cannot be split into fragments.
public enum FramingError: Error, Hashable, Sendable {
    /// The packet is empty.
    case emptyPacket
    /// The packet is longer than ``Fragment/maximumPacketLength``. The value is its length.
    case packetTooLong(Int)
    /// The requested fragment length is below ``Fragment/minimumLength``. The value is that length.
    case fragmentTooShort(Int)
}
