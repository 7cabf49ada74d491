import JacquardProtocol
public import Time

/// The stages of one gesture, from the descriptor of the radio to the broker's acknowledgement: 40 bytes.
///
/// Times are in `TraceTicks`. All but the first are distances from it.
public struct GestureTrace: Hashable, Sendable {
    /// How the delivery has ended.
    enum Outcome: UInt8, Sendable {
        /// Not yet.
        case pending
        /// The broker has acknowledged it, with ``GestureTrace/reason``.
        case acknowledged
        /// It expired while it waited.
        case expired
        /// It was dropped because the queue was full.
        case dropped
        /// The broker has refused it, with ``GestureTrace/reason``.
        case refused
        /// The client has refused it, because of its own rules or the broker's limits.
        case unsendable
        /// The broker closed two connections with it in flight.
        case closing
    }

    /// Incidents on the way.
    struct Remarks: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        /// It waited for a connection to the broker.
        static let waitedForBroker = Remarks(rawValue: 1)
        /// It waited because too many deliveries were unacknowledged.
        static let waitedForWindow = Remarks(rawValue: 2)
        /// It was sent again after a lost connection.
        static let isRepeated = Remarks(rawValue: 4)
        /// It was held back, because it could have become part of an exclusive chord.
        static let wasHeld = Remarks(rawValue: 16)
        /// The acknowledgement has a reason (MQTT 5).
        static let hasReason = Remarks(rawValue: 8)
    }

    /// When the descriptor was readable; of a gesture that was held back, when it was decoded.
    let received: Int64
    /// When the value was read.
    let read: UInt32
    /// When the gesture was decoded; of one that was held back, when it was released.
    let reassembled: UInt32
    /// When it was passed to the MQTT library.
    var queued = TraceTicks.never
    /// When the socket had accepted it.
    var written = TraceTicks.never
    /// When the delivery ended.
    var ended = TraceTicks.never
    /// The gesture's `seq`, modulo 2^32.
    let sequence: UInt32
    /// The tag.
    let tag: TagHandle
    /// The ``GestureName/index`` of the name, or the mark of ``ChordNames``.
    let name: UInt8
    /// How the delivery has ended.
    var outcome = Outcome.pending
    /// The reason of the acknowledgement.
    var reason: UInt8 = 0
    /// The incidents on the way.
    var remarks = Remarks()

    init(_ mark: GestureMark, _ arrival: GestureArrival, at now: Instant) {
        sequence = mark.sequence
        tag = mark.tag
        name = mark.name
        guard mark.isHeld else {
            received = TraceTicks.at(arrival.received)
            read = TraceTicks.distance(from: received, to: TraceTicks.at(arrival.read))
            reassembled = TraceTicks.distance(from: received, to: TraceTicks.at(now))
            return
        }
        // It arrived earlier than the value that is handled now, if any.
        received = TraceTicks.at(now) &- Int64(mark.number)
        read = 0
        reassembled = mark.number
        remarks = .wasHeld
    }

    /// The time from its arrival, or the end of its time in a chord, to the end of its delivery.
    var duration: Int64 {
        remarks.contains(.wasHeld) ? Int64(ended) - Int64(reassembled) : Int64(ended)
    }

    /// It was passed to the client.
    mutating func delivered(at ticks: Int64) {
        queued = TraceTicks.distance(from: received, to: ticks)
    }

    /// The socket has accepted it, if it was passed to the client. A time is set once.
    mutating func written(at ticks: Int64) {
        guard queued != TraceTicks.never, written == TraceTicks.never, outcome == .pending else { return }
        written = TraceTicks.distance(from: received, to: ticks)
    }

    /// The delivery has ended.
    mutating func ended(_ outcome: Outcome, reason: UInt8?, at ticks: Int64) {
        ended = TraceTicks.distance(from: received, to: ticks)
        self.outcome = outcome
        if outcome == .unsendable { written = TraceTicks.never }
        guard let reason else { return }
        self.reason = reason
        remarks.insert(.hasReason)
    }
}

/// The marks of the names of chords in traces. A reload may change the chords, so a mark is not the position in the
/// configuration.
struct ChordNames: Sendable {
    private var names: [String] = []
    /// The mark of the first name. Those of gestures are below.
    private static let first = UInt8(truncatingIfNeeded: GestureName.allCases.count)

    /// Returns the mark of a name, which is the last one for all names after the 248th since the start.
    mutating func mark(of name: String) -> UInt8 {
        if let index = names.firstIndex(of: name) { return Self.first + UInt8(index) }
        guard names.count < Int(UInt8.max - Self.first) else { return .max }
        names.append(name)
        return Self.first + UInt8(names.count - 1)
    }

    /// Returns the name of a gesture or chord in a trace.
    func name(of mark: UInt8) -> String {
        if let gesture = GestureName.allCases.first(where: { $0.index == mark }) { return gesture.rawValue }
        let index = Int(mark) - Int(Self.first)
        return names.indices.contains(index) ? names[index] : "chord"
    }
}

/// When a gesture arrived, before the bridge decoded it.
public struct GestureArrival: Sendable {
    let received: Instant
    let read: Instant

    /// Creates the times of an arrival.
    ///
    /// - Parameters:
    ///   - received: when the loop found the descriptor readable.
    ///   - read: when the value was read from it.
    public init(received: Instant, read: Instant) {
        self.received = received
        self.read = read
    }
}
