import ProtobufWire

/// Puts the fragments of one direction of one characteristic together to packets.
///
/// A fragment that does not fit costs the packet it belongs to and nothing else: there is no negative acknowledgement,
/// the request times out instead.
public struct Reassembler: Sendable {
    /// What came of a fragment.
    public enum Outcome: Hashable, Sendable {
        /// It completed a packet. One that came in a single fragment shares that fragment's memory.
        case packet(ArraySlice<UInt8>)
        /// More fragments of its packet are to come.
        case incomplete
        /// It was thrown away, and what had been collected of its packet with it.
        case dropped(Reason)
    }

    /// Why a fragment was thrown away.
    public enum Reason: Hashable, Sendable {
        /// It has no byte.
        case emptyFragment
        /// The packet's length is missing, 0, or above 1,024.
        case invalidLength
        /// It continues a packet of which nothing is collected.
        case noFirstFragment
        /// A fragment before it is missing: the counter that was due and the one that came.
        case unexpectedCounter(expected: UInt8, received: UInt8)
        /// The packet is not as long as it said: bytes declared and collected.
        case lengthMismatch(declared: Int, collected: Int)
    }

    private enum State {
        case idle
        case collecting(bytes: [UInt8], length: Int, nextCounter: UInt8)
        /// The rest of a packet that is already counted as lost goes by.
        case skipping
    }

    private var state = State.idle

    /// How many packets were lost so far, each counted once, however many of its fragments came.
    ///
    /// It counts also what no outcome tells: a packet that is cut short by the first fragment of the next one.
    public private(set) var lostPackets = 0

    /// Starts with nothing collected.
    public init() {}

    /// Takes the next value of the characteristic.
    public mutating func receive(_ fragment: [UInt8]) -> Outcome {
        guard let header = fragment.first else { return .dropped(.emptyFragment) }
        return header & Fragment.firstFlag != 0
            ? receiveFirst(fragment, header) : receiveNext(fragment.dropFirst(), header)
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
        // The array must have one owner while it grows, or every fragment would copy it.
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
