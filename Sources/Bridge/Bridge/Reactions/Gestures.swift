import JSON
public import JacquardProtocol
import MQTTTypes

extension Gesture {
    /// The `event_type` of the gesture.
    public var word: String { GestureName(self).rawValue }
}

/// Number of gestures of each kind since the start.
struct GestureCounts: Sendable {
    private var counts = [UInt64](repeating: 0, count: GestureName.allCases.count)

    /// Counts a gesture.
    mutating func add(_ name: GestureName) {
        counts[name.index] += 1
    }

    /// The count of a gesture.
    subscript(name: GestureName) -> UInt64 { counts[name.index] }

    /// The gestures with a count above 0, sorted by name.
    var made: [GestureName] { GestureName.sorted.filter { self[$0] > 0 } }
}

extension GestureName {
    /// All gestures, sorted by name.
    static let sorted = allCases.sorted { $0.rawValue < $1.rawValue }

    /// The position among all names.
    var index: Int {
        switch self {
        case .doubleTap: 0
        case .brushIn: 1
        case .brushOut: 2
        case .cover: 3
        case .brushUp: 4
        case .brushDown: 5
        case .unknown: 6
        }
    }
}

/// Creates the messages on `T/gesture` without a JSON writer: up to tens of thousands of gestures arrive per second.
///
/// The bytes equal those of `JSONText`: `boot`, `bridge`, `event_type`, `gesture`, `seq`, `time`.
struct GestureEncoder: Sendable {
    /// How long a gesture is queued while the broker is away.
    var lifetime: Duration {
        didSet { expirySeconds = Self.expirySeconds(lifetime) }
    }
    private let boot: String
    private let bridge: String
    /// MQTT message expiry in whole seconds.
    private var expirySeconds: UInt32
    /// For each name, the bytes before the gesture's number.
    private let prefixes: [[UInt8]]
    private var time = TimeText()
    /// The chords that were published since the start.
    private(set) var chordNames = ChordNames()
    /// Creates the `traceparent` of each gesture; nil if it is switched off.
    var tracing: TraceContext?

    private static let sequenceKey = Array(#","seq":"#.utf8)
    private static let timeKey = Array(#","time":""#.utf8)
    private static let end = Array(#""}"#.utf8)

    init(boot: String, bridge: String, lifetime: Duration) {
        self.boot = boot
        self.bridge = bridge
        self.lifetime = lifetime
        expirySeconds = Self.expirySeconds(lifetime)
        let boot = String(decoding: JSONText.bytes(of: boot), as: UTF8.self)
        let bridge = String(decoding: JSONText.bytes(of: bridge), as: UTF8.self)
        prefixes = GestureName.allCases.map { name in
            Array(#"{"boot":\#(boot),"bridge":\#(bridge),"event_type":"\#(name.rawValue)","gesture":"#.utf8)
        }
    }

    /// At least 1, because 0 means immediate expiry.
    private static func expirySeconds(_ lifetime: Duration) -> UInt32 {
        max(1, UInt32(clamping: lifetime.components.seconds))
    }

    /// Returns the message of one gesture.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - name: the gesture.
    ///   - number: the gesture's number.
    ///   - tag: the tag.
    ///   - sequence: the gesture's `seq`.
    ///   - now: the current time.
    /// - Returns: the message.
    mutating func publication(
        on topic: String, _ name: GestureName, number: UInt32, of tag: TagHandle, sequence: UInt64, at now: Timestamp
    ) -> Publication {
        var publication = Publication(
            topic: topic, payload: payload(name, number: number, sequence: sequence, at: now),
            kind: .event(lifetime: lifetime), messageExpirySeconds: expirySeconds)
        publication.gesture = GestureMark(tag: tag, name: UInt8(truncatingIfNeeded: name.index), sequence: sequence)
        if let tracing { publication.message.userProperty = tracing.parent(tag: tag, sequence: sequence) }
        return publication
    }

    /// Returns the message of a chord.
    mutating func publication(
        on topic: String, chord: String, of gestures: [UInt64], by tag: TagHandle, sequence: UInt64, at now: Timestamp
    ) -> Publication {
        let payload = JSONText.objectBytes { object in
            object.add("boot", boot)
            object.add("bridge", bridge)
            object.add("event_type", chord)
            // A chord has no number of its own.
            object.add("gesture", Int?.none)
            object.add("of", gestures)
            object.add("seq", sequence)
            object.add("time", now)
        }
        var publication = Publication(
            topic: topic, payload: payload, kind: .event(lifetime: lifetime),
            messageExpirySeconds: expirySeconds)
        publication.gesture = GestureMark(tag: tag, name: chordNames.mark(of: chord), sequence: sequence)
        if let tracing { publication.message.userProperty = tracing.parent(tag: tag, sequence: sequence) }
        return publication
    }

    /// Returns the payload of one gesture.
    mutating func payload(_ name: GestureName, number: UInt32, sequence: UInt64, at now: Timestamp) -> [UInt8] {
        let prefix = prefixes[name.index]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(prefix.count + 80)
        bytes.append(contentsOf: prefix)
        bytes.append(decimal: UInt64(number))
        bytes.append(contentsOf: Self.sequenceKey)
        bytes.append(decimal: sequence)
        bytes.append(contentsOf: Self.timeKey)
        time.append(now.unixMilliseconds, to: &bytes)
        bytes.append(contentsOf: Self.end)
        return bytes
    }
}

/// The counters of a tag since the start of the bridge.
struct TagCounters: Sendable {
    /// Number of gestures by name.
    var gestures = GestureCounts()
    /// Number of chords by name; empty without chords.
    var chords: [String: UInt64] = [:]
    /// The sequence number of the last gesture or chord; 0 before the first.
    var lastSequence: UInt64 = 0
    /// Number of gestures that expired while the broker was away.
    var expired: UInt64 = 0
    /// Number of packets dropped because a fragment was missing.
    var lostFragments: UInt64 = 0
    /// Number of reconnects.
    var reconnects: UInt64 = 0

    /// The names of all gestures and chords with a count above 0, with their counts, sorted by name.
    var events: [(name: String, count: UInt64)] {
        var events: [(name: String, count: UInt64)] = []
        events.reserveCapacity(GestureName.sorted.count)
        for name in GestureName.sorted where gestures[name] > 0 { events.append((name.rawValue, gestures[name])) }
        guard !chords.isEmpty else { return events }
        return (events + chords.map { (name: $0.key, count: $0.value) }).sorted { $0.name < $1.name }
    }
}

/// Encodes `T/stats` without a JSON writer, as ``GestureEncoder`` does: with many tags most publications are statistics.
///
/// The bytes equal those of `JSONText`: `boot`, `expired`, `gestures`, `last_seq`, `lost_fragments`,
/// `reconnects`, `time`. A subscriber can use them to verify that it received every gesture.
struct StatsPayload: Sendable {
    /// The bytes before the first number.
    private let prefix: [UInt8]

    private static let gesturesKey = Array(#","gestures":{"#.utf8)
    private static let sequenceKey = Array(#"},"last_seq":"#.utf8)
    private static let fragmentsKey = Array(#","lost_fragments":"#.utf8)
    private static let reconnectsKey = Array(#","reconnects":"#.utf8)
    private static let timeKey = Array(#","time":""#.utf8)
    private static let end = Array(#""}"#.utf8)

    init(boot: String) {
        prefix = Array(#"{"boot":\#(String(decoding: JSONText.bytes(of: boot), as: UTF8.self)),"expired":"#.utf8)
    }

    /// Returns the payload for the counters of one tag.
    func bytes(of counters: TagCounters, at now: Timestamp) -> [UInt8] {
        var bytes: [UInt8] = []
        // Not much more than needed: the latest statistics of each tag are kept.
        let events = counters.events
        bytes.reserveCapacity(prefix.count + 120 + 24 * events.count)
        bytes.append(contentsOf: prefix)
        bytes.append(decimal: counters.expired)
        bytes.append(contentsOf: Self.gesturesKey)
        for (index, event) in events.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            bytes.append(utf8: event.name)
            bytes.append(UInt8(ascii: "\""))
            bytes.append(UInt8(ascii: ":"))
            bytes.append(decimal: event.count)
        }
        bytes.append(contentsOf: Self.sequenceKey)
        bytes.append(decimal: counters.lastSequence)
        bytes.append(contentsOf: Self.fragmentsKey)
        bytes.append(decimal: counters.lostFragments)
        bytes.append(contentsOf: Self.reconnectsKey)
        bytes.append(decimal: counters.reconnects)
        bytes.append(contentsOf: Self.timeKey)
        var time = TimeText()
        time.append(now.unixMilliseconds, to: &bytes)
        bytes.append(contentsOf: Self.end)
        return bytes
    }
}
