/// Why a packet cannot be cut into fragments; nothing is to be sent then.
public enum FramingError: Error, Hashable, Sendable {
    /// The packet has no byte, and no fragment could carry it.
    case emptyPacket
    /// The packet has more than ``Fragment/maximumPacketLength`` bytes; how many it has.
    case packetTooLong(Int)
    /// Fragments are to be shorter than ``Fragment/minimumLength``; how long they were to be.
    case fragmentTooShort(Int)
}
