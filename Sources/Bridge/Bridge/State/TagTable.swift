import HomeAssistant
import JacquardProtocol
import Time

/// The bridge's tags: a list with an index by handle and by id, and the next deadline of each tag.
///
/// Each change of a tag through the subscript updates its deadline.
struct TagTable: RandomAccessCollection, Sendable {
    private var tags: [TagMirror]
    /// The indices by the number of the handle; nil for one that is not used.
    private var positionsByNumber: [Int32?] = []
    private var positions: [TagID: Int] = [:]
    private var deadlines = DeadlineQueue()
    /// The tag that was changed last, until its deadline is set: one event changes a tag several times.
    private var unsettled: Int?
    var work = TagWork()
    /// How many tags have active features.
    private(set) var activeTags = 0
    private var lastHandle = TagHandle.none
    /// The token of the latest command of the bridge's own. ``PendingCommands`` counts from 1.
    private var lastToken: UInt64 = 1 << 63
    /// What the tags that were removed last go on with when they are added again.
    private var formerTags: [FormerTag] = []
    /// The most of them.
    private static let mostFormer = 64

    /// What a removed tag goes on with when it is added again.
    private struct FormerTag {
        let entry: TagEntry
        /// A subscriber knows a gesture by the start of the bridge and its number.
        var counters: TagCounters
        /// A pattern of the LED goes on.
        let light: LEDState
    }

    init(_ tags: [TagMirror]) {
        self.tags = tags
        for position in tags.indices { self.tags[position].handle = newHandle() }
        rebuildIndex()
    }

    var startIndex: Int { 0 }
    var endIndex: Int { tags.count }

    #if DEBUG
        // Without optimization the compiler reads fields of a large value after the end of the coroutine that has yielded
        // it and freed its frame (Swift 6.3, found by AddressSanitizer). A copy has no coroutine.
        subscript(position: Int) -> TagMirror {
            get { tags[position] }
            _modify {
                let wasActive = tags[position].features.isActive
                yield &tags[position]
                changed(position, wasActive: wasActive)
            }
        }
    #else
        subscript(position: Int) -> TagMirror {
            _read { yield tags[position] }
            _modify {
                let wasActive = tags[position].features.isActive
                yield &tags[position]
                changed(position, wasActive: wasActive)
            }
        }
    #endif

    private mutating func changed(_ position: Int, wasActive: Bool) {
        if tags[position].features.isActive != wasActive { activeTags += wasActive ? -1 : 1 }
        if unsettled != position { settleDeadline() }
        unsettled = position
    }

    private mutating func settleDeadline() {
        guard let position = unsettled else { return }
        unsettled = nil
        deadlines.set(tags[position].nextDeadline(), of: position)
    }

    /// Returns the earliest deadline of all tags.
    mutating func nextDeadline() -> Instant? {
        settleDeadline()
        return deadlines.next
    }

    /// Returns the index of a tag; nil for a handle that is not used.
    func position(of handle: TagHandle) -> Int? {
        let number = Int(handle.number)
        return number < positionsByNumber.count ? positionsByNumber[number].map { Int($0) } : nil
    }

    /// Returns the index of a tag; nil for an unknown id.
    func position(of id: TagID) -> Int? {
        guard tags.count <= Self.fewTags else { return positions[id] }
        for position in tags.indices where tags[position].entry.id == id { return position }
        return nil
    }

    /// Comparing the ids of so many tags takes less than hashing one.
    private static let fewTags = 6

    /// Returns a handle for a tag that is added, now or later.
    mutating func newHandle() -> TagHandle {
        lastHandle = lastHandle.next(in: TagHandle.ofBridge) { position(of: $0) != nil }
        return lastHandle
    }

    /// Returns the token of a command of the bridge's own.
    mutating func newToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    /// Returns the indices of the tags whose deadline has passed, in order.
    mutating func due(at now: Instant) -> [Int] {
        settleDeadline()
        return deadlines.tags(dueAt: now)
    }

    /// Returns whether a tag has a serial.
    func contains(serial: String) -> Bool { contains { $0.entry.serial == serial } }

    /// Returns whether several tags have a serial, each with its own id.
    func isShared(serial: String) -> Bool { count { $0.entry.serial == serial } > 1 }

    /// Adds a tag that has a handle.
    mutating func append(_ tag: TagMirror) {
        tags.append(tag)
        rebuildIndex()
        guard let index = formerTags.firstIndex(where: { $0.entry.id == tag.entry.id }) else { return }
        let former = formerTags.remove(at: index)
        self[count - 1].statistics.counters = former.counters
        if former.entry.serial == tag.entry.serial { self[count - 1].lights[.tag] = former.light }
    }

    mutating func remove(at position: Int) -> TagMirror {
        defer { rebuildIndex() }
        let tag = tags.remove(at: position)
        let former = FormerTag(entry: tag.entry, counters: tag.statistics.counters, light: tag.lights.tag)
        guard former.counters.lastSequence > 0 || former.light.isOn else { return tag }
        formerTags.append(former)
        if formerTags.count > Self.mostFormer { formerTags.removeFirst() }
        return tag
    }

    /// Counts gestures of removed tags that expired while the broker was away.
    ///
    /// - Parameter count: returns the number of those of a tag.
    mutating func countExpiredOfRemoved(_ count: (TagID) -> Int?) {
        for index in formerTags.indices {
            formerTags[index].counters.expired += UInt64(clamping: count(formerTags[index].entry.id) ?? 0)
        }
    }

    /// Counts a gesture. The hot path: updates the deadline only if a throttled publication of statistics starts or
    /// ends.
    ///
    /// - Returns: nil for an unknown tag.
    mutating func countGesture(_ name: GestureName, of handle: TagHandle, at now: Timestamp) -> GestureCount? {
        guard let position = position(of: handle) else { return nil }
        let wasHolding = tags[position].isHoldingStats
        let (sequence, topic) = tags[position].countGesture(name, at: now)
        let stats = tags[position].takeStats(at: now)
        let isDeadlineChanged = tags[position].isHoldingStats != wasHolding
        if isDeadlineChanged { deadlines.set(tags[position].nextDeadline(), of: position) }
        return GestureCount(
            position: position, topic: topic, sequence: sequence, stats: stats, isDeadlineChanged: isDeadlineChanged)
    }

    /// A counted gesture.
    struct GestureCount {
        /// The index of the tag.
        let position: Int
        /// The topic of the tag's gestures.
        let topic: String
        /// The gesture's sequence number.
        let sequence: UInt64
        /// The statistics; nil while they wait.
        let stats: Publication?
        /// Whether the tag's deadline has changed.
        let isDeadlineChanged: Bool
    }

    /// Returns what a command to a tag builds upon.
    mutating func requestContext(
        of position: Int, _ settings: TagRequestContext.Settings
    ) -> TagRequestContext {
        tags[position].requestContext(settings)
    }

    /// Reads a tag in place. Changes nothing: it is mutating because a tag that is read through the subscript is copied for a computed
    /// property.
    mutating func read<Value>(_ position: Int, _ value: (inout TagMirror) -> Value) -> Value { value(&tags[position]) }

    /// Each of many tags publishes its statistics less often, so that those of all tags are at most about fifty documents
    /// a second: with 400 tags they would be more than a quarter of all messages.
    private var statsInterval: Duration { .milliseconds(Swift.max(1_000, 20 * tags.count)) }

    private mutating func rebuildIndex() {
        let interval = statsInterval
        for position in tags.indices { tags[position].setStatsInterval(interval) }
        positionsByNumber = Array(repeating: nil, count: 1 + (tags.map { Int($0.handle.number) }.max() ?? 0))
        for position in tags.indices { positionsByNumber[Int(tags[position].handle.number)] = Int32(position) }
        // Tags without a handle.
        positionsByNumber[0] = nil
        activeTags = tags.count { $0.features.isActive }
        positions = Dictionary(tags.indices.map { (tags[$0].entry.id, $0) }) { first, _ in first }
        deadlines = DeadlineQueue(tags: tags.count)
        unsettled = nil
        for position in tags.indices { deadlines.set(tags[position].nextDeadline(), of: position) }
    }
}

/// The next deadline of each tag, sorted by time. The earliest one is read without visiting all tags, and a change
/// moves a single entry.
struct DeadlineQueue: Sendable {
    private struct Entry: Comparable, Sendable {
        let due: Instant
        let tag: Int

        static func < (left: Entry, right: Entry) -> Bool {
            (left.due, left.tag) < (right.due, right.tag)
        }
    }

    /// Deadlines by tag; nil for a tag without one.
    private var dues: [Instant?]
    /// The deadlines in order of time.
    private var entries: [Entry] = []

    /// Creates a queue for a number of tags without deadlines.
    init(tags: Int = 0) {
        dues = Array(repeating: nil, count: tags)
    }

    /// The earliest deadline.
    var next: Instant? { entries.first?.due }

    /// Returns the tags whose deadline has passed, in the order of their indices.
    func tags(dueAt now: Instant) -> [Int] {
        entries.prefix { $0.due <= now }.map(\.tag).sorted()
    }

    /// Sets or removes the deadline of a tag.
    mutating func set(_ due: Instant?, of tag: Int) {
        guard due != dues[tag] else { return }
        if let old = dues[tag] { entries.remove(at: place(of: Entry(due: old, tag: tag))) }
        if let due {
            let entry = Entry(due: due, tag: tag)
            entries.insert(entry, at: place(of: entry))
        }
        dues[tag] = due
    }

    /// Returns the index of an entry, or where to insert it: after all earlier ones.
    private func place(of entry: Entry) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < entry { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension TagTable: ReactingTags {
    func gestureTopic(of id: TagID) -> (tag: TagHandle, topic: String)? {
        position(of: id).map { (tags[$0].handle, tags[$0].topics.gesture) }
    }

    var connected: [TagID] { tags.filter(\.isConnected).map(\.entry.id) }
}
