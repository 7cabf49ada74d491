package import Time

/// Events in virtual time. Equal seeds and equal calls give equal orders.
///
/// Pure: ``VirtualTime`` drives it.
package struct VirtualSchedule<Event: Sendable>: Sendable {
    /// Identifies an event that is scheduled.
    package typealias Token = UInt64

    private struct Entry: Sendable {
        /// Nanoseconds since ``origin``.
        let due: Int64
        /// Drawn: events of the same time come in its order.
        let rank: UInt64
        let token: Token

        static func < (one: Entry, other: Entry) -> Bool {
            one.due != other.due ? one.due < other.due : one.rank < other.rank
        }
    }

    /// The current time.
    package private(set) var now: Instant
    /// Source of all drawn numbers.
    package var random: SplitMix
    private let origin: Instant
    private var events: [Token: Event] = [:]
    /// A binary heap with the earliest entry first. Entries of cancelled events stay until their time.
    private var heap: [Entry] = []
    private var lastToken: Token = 0

    /// Creates an empty schedule.
    package init(from start: Instant, seed: UInt64) {
        now = start
        origin = start
        random = SplitMix(seed: seed)
    }

    /// The number of scheduled events.
    package var count: Int { events.count }

    /// Whether an event is due now.
    package mutating func hasDueEvent() -> Bool {
        removeCancelled()
        return heap.first.map { origin + .nanoseconds($0.due) <= now } ?? false
    }

    /// Schedules an event.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - instant: its earliest time; a past time counts as now.
    ///   - lateness: how much later it may come; the time is drawn.
    /// - Returns: the token to cancel it.
    package mutating func add(_ event: Event, at instant: Instant, lateness: Duration = .zero) -> Token {
        let earliest = Self.nanoseconds(max(instant, now) - origin)
        let spread = Self.nanoseconds(max(.zero, lateness))
        let (sum, isFar) = earliest.addingReportingOverflow(
            spread > 0 ? Int64(random.next() % UInt64(spread)) : 0)
        lastToken += 1
        events[lastToken] = event
        push(Entry(due: isFar ? .max : sum, rank: random.next(), token: lastToken))
        return lastToken
    }

    /// Removes an event; does nothing if it has come.
    package mutating func cancel(_ token: Token) {
        guard events.removeValue(forKey: token) != nil, heap.count > 64, heap.count > 2 * events.count else { return }
        let entries = heap.filter { events[$0.token] != nil }
        heap = []
        entries.forEach { push($0) }
    }

    /// Removes and returns the next event, and sets the time to its time.
    ///
    /// - Returns: nil if there is none.
    package mutating func next() -> Event? {
        removeCancelled()
        guard let entry = pop() else { return nil }
        now = max(now, origin + .nanoseconds(entry.due))
        return events.removeValue(forKey: entry.token)
    }

    private mutating func removeCancelled() {
        while let first = heap.first, events[first.token] == nil { _ = pop() }
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        var index = heap.count - 1
        while index > 0, heap[index] < heap[(index - 1) / 2] {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func pop() -> Entry? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var index = 0
        while true {
            let (left, right) = (2 * index + 1, 2 * index + 2)
            var least = index
            if left < heap.count, heap[left] < heap[least] { least = left }
            if right < heap.count, heap[right] < heap[least] { least = right }
            guard least != index else { return first }
            heap.swapAt(index, least)
            index = least
        }
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (product, isFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isFar ? .max : product + attoseconds / 1_000_000_000
    }
}
