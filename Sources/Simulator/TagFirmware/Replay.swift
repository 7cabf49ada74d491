public import GATTRecording
import JacquardProtocol
import Time

/// Plays a recording back: what a real tag has sent, after the requests that it has sent it after.
///
/// A request is matched by its content, then by its operation, in the order of the recording, also with requests of other
/// links. Responses get the id of
/// the request that they answer now. Everything else that the tag has sent, such as gestures, follows the request that
/// preceded it, once per link, with the recorded delay. After a request that does not come, such as a command of a user, it
/// follows as soon as the recorded time and some patience have passed. A link that the tag has dropped is dropped again. The links of
/// the recording are played in order; after the last one the first follows.
public struct Replay: Sendable {
    /// Something that the tag sends, some time after what caused it.
    struct Step: Sendable {
        enum Output: Sendable {
            /// A response, whose id is replaced.
            case response([UInt8], longestFragment: Int)
            /// Values as they were.
            case values([[UInt8]], on: TagCharacteristic)
            case dropLink
        }

        let delay: Duration
        let output: Output

        fileprivate var isResponse: Bool {
            if case .response = output { true } else { false }
        }
    }

    /// A recorded request and what followed it.
    private struct Exchange {
        let request: Request
        let id: UInt32
        let sentAt: Int64
        var steps: [Step] = []
        var isPlayed = false
    }

    /// A recorded link.
    private struct Link {
        /// Before the first request.
        var opening: [Step] = []
        var connectedAt: Int64 = 0
        var exchanges: [Exchange] = []
    }

    private let links: [Link]
    private let speed: Double
    private var next = 0
    private var link = Link()
    /// When the last request of the link was played, and its recorded time; nil before the first one.
    private var anchor: (at: Instant, sentAt: Int64)?

    /// How much later than recorded a request may come before the replay goes on without it.
    static let patience = Duration.seconds(1)

    /// The ATT MTU of the recorded links, in bytes; nil if it was not recorded.
    public let mtu: Int?
    /// Whether the tag accepts writes without response only.
    public let allowsWriteWithoutResponseOnly: Bool

    /// Creates a replay.
    ///
    /// - Parameters:
    ///   - recording: what is played.
    ///   - speed: divides all delays.
    public init(_ recording: TrafficRecording, speed: Double = 1) {
        let summary = TrafficSummary(recording)
        mtu = summary.mtu
        allowsWriteWithoutResponseOnly =
            summary.properties[.command].map { !$0.contains(.write) && $0.contains(.writeWithoutResponse) } ?? false
        self.speed = speed
        var builder = Builder(speed: speed)
        for event in recording.linkEvents { builder.take(event) }
        links = builder.links
    }

    /// Begins the next link.
    ///
    /// - Returns: what the tag sends without a request.
    mutating func linkUp() -> [Step] {
        guard !links.isEmpty else { return [] }
        link = links[next % links.count]
        anchor = nil
        next += 1
        return link.opening
    }

    /// Returns what follows a request; nil if the recording has no such request.
    ///
    /// An equal request of another link takes precedence over a similar one of this link.
    mutating func steps(for request: Request, at now: Instant) -> [Step]? {
        let isSimilar = { (exchange: Exchange) in
            exchange.request.domain == request.domain && exchange.request.opcode == request.opcode
        }
        return steps(at: now) { $0.request == request } ?? steps(at: now, where: isSimilar)
    }

    /// When the replay goes on without the next request; nil before the first request of a link, and after the last.
    var deadline: Instant? { missing.map { $0.due + Self.patience } }

    /// Returns what the tag has sent on its own after requests that have not come in time, with the times of it.
    mutating func withoutMissing(at now: Instant) -> [(step: Step, at: Instant)] {
        var steps: [(step: Step, at: Instant)] = []
        while let (index, due) = missing, due + Self.patience <= now {
            link.exchanges[index].isPlayed = true
            steps += link.exchanges[index].steps.filter { !$0.isResponse }.map { ($0, due + $0.delay) }
        }
        return steps
    }

    /// The first request of the link that has not come, and its time in this replay.
    private var missing: (index: Int, due: Instant)? {
        guard let anchor, let index = link.exchanges.firstIndex(where: { !$0.isPlayed }) else { return nil }
        let microseconds = Double(link.exchanges[index].sentAt - anchor.sentAt) / speed
        return (index, anchor.at + .microseconds(Int64(max(0, microseconds))))
    }

    private mutating func steps(at now: Instant, where isMatching: (Exchange) -> Bool) -> [Step]? {
        if let index = link.exchanges.firstIndex(where: { !$0.isPlayed && isMatching($0) }) {
            link.exchanges[index].isPlayed = true
            anchor = (now, link.exchanges[index].sentAt)
            return link.exchanges[index].steps
        }
        // What the tag has sent on its own is not repeated with each repetition of a request.
        let played = link.exchanges.last(where: isMatching)
        let other = links.firstIndex { $0.exchanges.contains(where: isMatching) }
            .flatMap { links[$0].exchanges.first(where: isMatching) }
        return (played ?? other)?.steps.filter(\.isResponse)
    }
}

extension Replay {
    /// Sorts the events of a recording into links and exchanges.
    private struct Builder {
        let speed: Double
        var links: [Link] = []

        mutating func take(_ event: TrafficRecording.LinkEvent) {
            switch event {
            case .request(let packet): requested(packet)
            case .received(let packet): received(packet)
            case .other(.connected, let time): links.append(Link(connectedAt: time))
            case .other(.disconnected(_?), let time): add(.dropLink, at: time)
            case .other: break
            }
        }

        private mutating func requested(_ packet: RecordedPacket) {
            guard packet.characteristic == .command, let bytes = packet.packet,
                let (id, request) = try? Request.decode(bytes[...])
            else { return }
            begin(at: packet.microseconds)
            links[links.count - 1].exchanges.append(
                Exchange(request: request, id: id, sentAt: packet.microseconds))
        }

        private mutating func received(_ packet: RecordedPacket) {
            guard packet.characteristic == .response, let bytes = packet.packet,
                let id = (try? Response.decode(bytes[...]))?.id, let link = links.last,
                let index = link.exchanges.lastIndex(where: { $0.id == id })
            else {
                return add(.values(packet.fragments, on: packet.characteristic), at: packet.microseconds)
            }
            let longest = packet.fragments.count > 1 ? packet.longestFragment : Fragment.maximumLength
            let step = Step(
                delay: delay(packet.microseconds - link.exchanges[index].sentAt),
                output: .response(bytes, longestFragment: longest))
            links[links.count - 1].exchanges[index].steps.append(step)
        }

        /// Adds something that the tag does on its own, after the last request.
        private mutating func add(_ output: Step.Output, at time: Int64) {
            begin(at: time)
            let (last, exchange) = (links.count - 1, links[links.count - 1].exchanges.count - 1)
            if exchange >= 0 {
                let delay = delay(time - links[last].exchanges[exchange].sentAt)
                links[last].exchanges[exchange].steps.append(Step(delay: delay, output: output))
            } else {
                links[last].opening.append(Step(delay: delay(time - links[last].connectedAt), output: output))
            }
        }

        /// A recording may begin while the tag is connected.
        private mutating func begin(at time: Int64) {
            if links.isEmpty { links.append(Link(connectedAt: time)) }
        }

        private func delay(_ microseconds: Int64) -> Duration {
            .microseconds(Int64(Double(max(0, microseconds)) / speed))
        }
    }
}

extension Replay.Step.Output {
    /// The actions, with the id of the request to respond to.
    func actions(id: UInt32) -> [FirmwareAction] {
        switch self {
        case .response(let packet, let longest):
            let length = max(longest, Fragment.minimumLength)
            let fragments = try? Fragmenter.fragments(of: Self.replacingID(in: packet, by: id), maximumLength: length)
            return (fragments ?? []).map { .notify($0, on: .response) }
        case .values(let values, let characteristic): return values.map { .notify($0, on: characteristic) }
        case .dropLink: return [.dropLink]
        }
    }

    /// Replaces the first field, which is the id of a response in every known firmware.
    private static func replacingID(in packet: [UInt8], by id: UInt32) -> [UInt8] {
        // Field 1 as a varint.
        let tag: UInt8 = 0x08
        guard packet.first == tag else { return packet }
        let rest = packet.dropFirst().drop { $0 & 0x80 != 0 }.dropFirst()
        // Requests have ids of at most two bytes.
        let varint =
            id < 0x80 ? [UInt8(id)] : [UInt8(truncatingIfNeeded: id | 0x80), UInt8(truncatingIfNeeded: id >> 7)]
        return [tag] + varint + rest
    }
}
