import ProtobufWire

/// Reassembles the fragments of one characteristic into packets.
///
/// A fragment that does not fit drops its packet and nothing else. The protocol has no negative acknowledgement: the
/// request times out.
public struct Reassembler: Sendable {
    /// The result of a fragment.
    public enum Outcome: Hashable, Sendable {
        /// The fragment completed a packet. A packet of one fragment shares the fragment's memory.
        case packet(ArraySlice<UInt8>)
        /// The packet is incomplete.
        case incomplete
        /// The fragment was dropped, and its packet with it.
        case dropped(Reason)
    }

    /// Why a fragment was dropped.
    public enum Reason: Hashable, Sendable {
        /// The fragment is empty.
        case emptyFragment
        /// The packet's length is missing, 0, or above 1,024.
        case invalidLength
        /// The fragment continues a packet whose first fragment is missing.
        case noFirstFragment
        /// A fragment before this one is missing.
        case unexpectedCounter(expected: UInt8, received: UInt8)
        /// The packet's length differs from the declared one. Both in bytes.
        case lengthMismatch(declared: Int, collected: Int)
    }

    private enum State {
        case idle
        case collecting(bytes: [UInt8], length: Int, nextCounter: UInt8)
        /// Ignores the rest of a packet that is already counted as lost.
        case skipping
    }

    private var state = State.idle

    /// The number of lost packets, each counted once.
    ///
    /// Includes packets without an outcome of their own: those cut short by the first fragment of the next packet, or by
    /// the end of the link.
    public private(set) var lostPackets = 0

    /// Creates an empty reassembler.
    public init() {}

    /// Handles the next value of the characteristic.
    public mutating func receive(_ fragment: [UInt8]) -> Outcome {
        guard let header = fragment.first else { return .dropped(.emptyFragment) }
        return header & Fragment.firstFlag != 0
            ? receiveFirst(fragment, header) : receiveNext(fragment.dropFirst(), header)
    }

    /// Drops an incomplete packet, at the end of the link.
    public mutating func reset() {
        if case .collecting = state { lostPackets += 1 }
        state = .idle
    }

    private mutating func receiveFirst(_ fragment: [UInt8], _ header: UInt8) -> Outcome {
        if case .collecting = state { lostPackets += 1 }
        var reader = WireReader(fragment.dropFirst())
        guard let declared = try? reader.readVarint(), (1...UInt64(Fragment.maximumPacketLength)).contains(declared)
        else {
            return drop(.invalidLength, header)
        }
        let length = Int(declared)
        guard header & Fragment.lastFlag == 0 else { return finish(reader.remaining, length, header) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        return collect(reader.remaining, into: bytes, length, header)
    }

    private mutating func receiveNext(_ data: ArraySlice<UInt8>, _ header: UInt8) -> Outcome {
        guard case .collecting(var bytes, let length, let expected) = state else {
            return dropContinuation(header)
        }
        // Release the state's reference: an array with two owners would be copied for each fragment.
        state = .idle
        let counter = header & Fragment.counterMask
        guard counter == expected else {
            return drop(.unexpectedCounter(expected: expected, received: counter), header)
        }
        guard header & Fragment.lastFlag == 0 else {
            bytes += data
            return finish(bytes[...], length, header)
        }
        return collect(data, into: bytes, length, header)
    }

    private mutating func collect(
        _ data: ArraySlice<UInt8>, into collected: consuming [UInt8], _ length: Int, _ header: UInt8
    ) -> Outcome {
        collected += data
        guard collected.count <= length else {
            return drop(.lengthMismatch(declared: length, collected: collected.count), header)
        }
        let nextCounter = (header &+ 1) & Fragment.counterMask
        state = .collecting(bytes: collected, length: length, nextCounter: nextCounter)
        return .incomplete
    }

    private mutating func finish(_ packet: ArraySlice<UInt8>, _ length: Int, _ header: UInt8) -> Outcome {
        guard packet.count == length else {
            return drop(.lengthMismatch(declared: length, collected: packet.count), header)
        }
        state = .idle
        return .packet(packet)
    }

    private mutating func drop(_ reason: Reason, _ header: UInt8) -> Outcome {
        lostPackets += 1
        state = header & Fragment.lastFlag == 0 ? .skipping : .idle
        return .dropped(reason)
    }

    private mutating func dropContinuation(_ header: UInt8) -> Outcome {
        if case .idle = state { return drop(.noFirstFragment, header) }
        if header & Fragment.lastFlag != 0 { state = .idle }
        return .dropped(.noFirstFragment)
    }
}
