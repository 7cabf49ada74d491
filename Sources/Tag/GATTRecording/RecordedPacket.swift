public import JacquardProtocol

/// A packet in a recording: fragments of one characteristic that belong together.
public struct RecordedPacket: Hashable, Sendable {
    /// The characteristic that carried it. Requests are on `command`.
    public let characteristic: TagCharacteristic
    /// The fragments as they were on the air.
    public var fragments: [[UInt8]]
    /// The packet; nil if the fragments make none.
    public let packet: [UInt8]?
    /// The time of the last fragment, in microseconds.
    public let microseconds: Int64
    /// The positions of the fragments in ``TrafficRecording/records``.
    let positions: [Int]

    /// The longest fragment, in bytes.
    public var longestFragment: Int { fragments.map(\.count).max() ?? 0 }
}

/// Puts the fragments of a recording together.
struct PacketCollector {
    private struct Channel {
        var reassembler = Reassembler()
        var fragments: [[UInt8]] = []
        var positions: [Int] = []
    }

    private var channels: [TagCharacteristic: Channel] = [:]

    /// Adds a value.
    ///
    /// - Returns: the packet that it completes, or the fragments that make none.
    mutating func add(
        _ value: [UInt8], on characteristic: TagCharacteristic, at position: Int, _ microseconds: Int64
    ) -> RecordedPacket? {
        // Raw data has no framing while it streams.
        guard characteristic != .rawData else {
            return RecordedPacket(
                characteristic: characteristic, fragments: [value], packet: nil, microseconds: microseconds,
                positions: [position])
        }
        var channel = channels.removeValue(forKey: characteristic) ?? Channel()
        channel.fragments.append(value)
        channel.positions.append(position)
        let packet: [UInt8]?
        switch channel.reassembler.receive(value) {
        case .incomplete:
            channels[characteristic] = channel
            return nil
        case .packet(let bytes): packet = Array(bytes)
        case .dropped: packet = nil
        }
        channels[characteristic] = Channel(reassembler: channel.reassembler)
        return RecordedPacket(
            characteristic: characteristic, fragments: channel.fragments, packet: packet, microseconds: microseconds,
            positions: channel.positions)
    }

    /// Forgets incomplete packets, at the end of a link.
    mutating func reset() {
        channels = [:]
    }
}

extension TrafficRecording {
    /// An event of a link, with the fragments of a packet put together.
    public enum LinkEvent: Hashable, Sendable {
        /// A request of the bridge, or a value that is none.
        case request(RecordedPacket)
        /// A packet of the tag.
        case received(RecordedPacket)
        /// Another event, with its time in microseconds.
        case other(TrafficRecord.Event, Int64)
    }

    /// The events in order. Fragments that make no packet are left out if the link ends before the next fragment.
    public var linkEvents: [LinkEvent] {
        var collector = PacketCollector()
        var events: [LinkEvent] = []
        for (position, record) in records.enumerated() {
            switch record.event {
            case .write(let value, let characteristic, _):
                if let packet = collector.add(value, on: characteristic, at: position, record.microseconds) {
                    events.append(.request(packet))
                }
            case .notified(let value, let characteristic):
                if let packet = collector.add(value, on: characteristic, at: position, record.microseconds) {
                    events.append(.received(packet))
                }
            case .connected, .disconnected:
                collector.reset()
                events.append(.other(record.event, record.microseconds))
            default: events.append(.other(record.event, record.microseconds))
            }
        }
        return events
    }
}
