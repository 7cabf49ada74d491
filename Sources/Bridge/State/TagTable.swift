import Time

/// The bridge's tags: a list with an index by id, and the next deadline of each tag.
///
/// Each change of a tag through the subscript updates its deadline.
struct TagTable: RandomAccessCollection, Sendable {
    private var tags: [TagMirror]
    private var positions: [TagID: Int] = [:]
    private var deadlines = DeadlineQueue()

    init(_ tags: [TagMirror]) {
        self.tags = tags
        rebuildIndex()
    }

    var startIndex: Int { 0 }
    var endIndex: Int { tags.count }

    subscript(position: Int) -> TagMirror {
        _read { yield tags[position] }
        _modify {
            yield &tags[position]
            deadlines.set(tags[position].deadline, of: position)
        }
    }

    /// The earliest deadline of all tags.
    var deadline: Instant? { deadlines.next }

    /// Returns the index of a tag; nil for an unknown id.
    func position(of id: TagID) -> Int? { positions[id] }

    /// Returns the indices of the tags whose deadline has passed, in order.
    func due(at now: Instant) -> [Int] { deadlines.tags(dueAt: now) }

    /// Returns whether a tag has a serial.
    func contains(serial: String) -> Bool { contains { $0.entry.serial == serial } }

    /// Returns whether several tags have a serial, each with its own id.
    func isShared(serial: String) -> Bool { count { $0.entry.serial == serial } > 1 }

    mutating func append(_ tag: TagMirror) {
        tags.append(tag)
        rebuildIndex()
    }

    mutating func remove(at position: Int) -> TagMirror {
        defer { rebuildIndex() }
        return tags.remove(at: position)
    }

    /// The hot path: updates the deadline only if a throttled publication of statistics starts or ends.
    ///
    /// - Returns: the gesture's sequence number, the statistics if they are to be published now, and whether the
    ///   tag's deadline has changed.
    mutating func countGesture(
        _ name: GestureName, of position: Int, at now: Moment
    ) -> (sequence: UInt64, stats: [Publication], isDeadlineChanged: Bool) {
        let wasHolding = tags[position].isHoldingStats
        let sequence = tags[position].countGesture(name, at: now)
        let stats = tags[position].statsChanged(at: now)
        guard tags[position].isHoldingStats != wasHolding else { return (sequence, stats, false) }
        deadlines.set(tags[position].deadline, of: position)
        return (sequence, stats, true)
    }

    private mutating func rebuildIndex() {
        positions = Dictionary(tags.indices.map { (tags[$0].entry.id, $0) }) { first, _ in first }
        deadlines = DeadlineQueue(tags: tags.count)
        for position in tags.indices { deadlines.set(tags[position].deadline, of: position) }
    }
}
