import JacquardProtocol
import Time

/// Recognizes the chords of one tag in its gestures.
///
/// A chord is complete when the tag's latest gestures, without another one between them, are those of the chord, and
/// the time from the first to the last is at most the chord's. A gesture counts once for each chord: occurrences of the
/// same chord don't overlap, and different chords don't affect each other.
///
/// A gesture that can become part of an exclusive chord is held back. If the chord becomes complete, the gesture is in
/// the chord's list only. Otherwise it is released, in order, as soon as no exclusive chord can contain it.
struct ChordProgress: Sendable {
    /// An event that is not released yet.
    private struct Held: Sendable {
        let event: GestureEvent
        /// The last moment at which another gesture can make it part of an exclusive chord; nil if none can.
        var until: Instant?
    }

    /// The most gestures of a chord.
    static let longest = 4

    private let chords: [Chord]
    /// The latest gestures, the oldest first; one for each gesture of the longest chord.
    private var latest: [MadeGesture] = []
    /// For each chord, the last gesture that counts for its latest occurrence.
    private var lastCounted: [UInt64]
    /// Events in the order of their release. At most three gestures, and the chords completed since the first of them.
    private var held: [Held] = []

    /// - Parameter chords: the chords that apply to the tag, in the order of the configuration.
    init(_ chords: [Chord]) {
        self.chords = chords
        lastCounted = Array(repeating: 0, count: chords.count)
    }

    /// The first moment after the one at which the first held-back event could still change. Time limits are inclusive
    /// and have the unit of a millisecond.
    var deadline: Instant? { held.first?.until.map { $0 + .milliseconds(1) } }

    /// Handles a gesture.
    ///
    /// - Parameter gesture: the gesture; chords that it completes get the sequence numbers after its own.
    /// - Returns: the events to publish now, and the names of the chords that the gesture has completed, held back or not.
    mutating func made(_ gesture: MadeGesture) -> (events: [GestureEvent], completed: [String]) {
        latest.append(gesture)
        if latest.count > Self.longest { latest.removeFirst() }
        held.append(Held(event: .gesture(gesture)))
        var completed: [String] = []
        for index in chords.indices {
            guard let parts = parts(of: index, count: chords[index].gestures.count) else { continue }
            let numbers = parts.map(\.sequence)
            lastCounted[index] = gesture.sequence
            if chords[index].isExclusive {
                held.removeAll { $0.event.chord == nil && numbers.contains($0.event.sequence) }
            }
            completed.append(chords[index].name)
            let sequence = gesture.sequence + UInt64(completed.count)
            held.append(
                Held(event: .chord(name: chords[index].name, of: numbers, sequence: sequence, at: gesture.at)))
        }
        holdBack()
        return (release(at: gesture.at.instant), completed)
    }

    /// Returns the events whose time to become part of an exclusive chord has passed.
    mutating func release(at now: Instant) -> [GestureEvent] {
        let released = held.prefix { held in held.until.map { $0 < now } ?? true }
        defer { held.removeFirst(released.count) }
        return released.map(\.event)
    }

    /// Returns all held-back events, and forgets the latest gestures.
    mutating func releaseAll() -> [GestureEvent] {
        defer { (held, latest) = ([], []) }
        return held.map(\.event)
    }

    /// Returns the latest gestures if they are the first ones of a chord, in time, and don't count for an earlier
    /// occurrence.
    private func parts(of index: Int, count: Int) -> ArraySlice<MadeGesture>? {
        let (chord, parts) = (chords[index], latest.suffix(count))
        guard parts.count == count, let first = parts.first, let last = parts.last,
            first.sequence > lastCounted[index], last.at.instant - first.at.instant <= chord.within,
            zip(parts, chord.gestures).allSatisfy({ $0.gesture == $1 })
        else { return nil }
        return parts
    }

    /// Sets how long each gesture is held back: as long as it is among the first gestures of an exclusive chord.
    private mutating func holdBack() {
        for position in held.indices { held[position].until = nil }
        for (index, chord) in chords.enumerated() where chord.isExclusive {
            for count in 1..<chord.gestures.count {
                guard let first = parts(of: index, count: count)?.first else { continue }
                let until = first.at.instant + chord.within
                for position in held.indices where held[position].event.chord == nil {
                    guard held[position].event.sequence >= first.sequence else { continue }
                    held[position].until = max(until, held[position].until ?? until)
                }
            }
        }
    }
}

/// The chords of the configuration, and the progress of each tag. Empty without chords.
struct ChordTable: Sendable {
    private let chords: [Chord]
    private var progress: [TagID: ChordProgress] = [:]
    /// When the first held-back event of a tag is due.
    private var dues: [TagID: Instant] = [:]

    init(_ chords: [Chord]) {
        self.chords = chords
    }

    /// Whether there are no chords.
    var isEmpty: Bool { chords.isEmpty }

    /// When the next held-back event is due.
    var deadline: Instant? { dues.values.min() }

    /// Handles a gesture of a tag, see ``ChordProgress/made(_:)``.
    mutating func made(_ gesture: MadeGesture, by tag: TagID) -> (events: [GestureEvent], completed: [String]) {
        let result = progress[tag, default: ChordProgress(chords.filter { $0.applies(to: tag) })].made(gesture)
        dues[tag] = progress[tag]?.deadline
        return result
    }

    /// Returns the held-back events that are due, by tag.
    mutating func takeDue(at now: Instant) -> [(tag: TagID, events: [GestureEvent])] {
        dues.filter { $0.value <= now }.keys.sorted().map { tag in
            let events = progress[tag]?.release(at: now) ?? []
            dues[tag] = progress[tag]?.deadline
            return (tag, events)
        }
    }

    /// Returns the held-back events of a tag, and forgets its gestures.
    mutating func remove(_ tag: TagID) -> [GestureEvent] {
        dues[tag] = nil
        var removed = progress.removeValue(forKey: tag)
        return removed?.releaseAll() ?? []
    }

    /// Returns all held-back events, and forgets all gestures.
    mutating func removeAll() -> [(tag: TagID, events: [GestureEvent])] {
        dues.keys.sorted().map { ($0, remove($0)) }
    }
}
