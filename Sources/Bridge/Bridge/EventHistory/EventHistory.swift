public import JacquardProtocol

/// Turns publications into blocks of the file of recorded events.
///
/// The file is bounded in bytes, because it is a ring, and in time: a block spans at most a part of the retention, and is
/// erased when all its events are older. A fact may be older than that and still be the latest one. It is therefore repeated
/// in the current block before its line is overwritten or erased.
public struct EventHistory: Sendable {
    /// Something to record.
    public enum Entry: Sendable {
        /// A publication, with its time in milliseconds since 1970.
        case published(Publication, at: Int64)
        /// A tag was forgotten.
        case forgotten(TagID)
    }

    /// Changes to write into the folder, in this order.
    public struct Changes: Hashable, Sendable {
        /// The table of tags; nil if it is unchanged.
        public var tags: RecordedTags?
        /// New and changed blocks.
        public var blocks: [EventBlock]
        /// The positions in the file of blocks to overwrite with zeros.
        public var erased: [Int]

        /// Whether there is nothing to write.
        public var isEmpty: Bool { tags == nil && blocks.isEmpty && erased.isEmpty }
    }

    private struct Fact {
        let payload: [UInt8]
        /// The block with the line.
        var block: UInt64
    }

    /// Maximum number of full blocks that are not written.
    static let maxWaiting = 16
    /// A block spans at most this part of the retention.
    private static let parts: Int64 = 24
    /// Facts are repeated from this number of blocks before they would be overwritten, a few in each block.
    private static let margin: UInt64 = 64

    private let prefix: String
    private let retention: Int64
    private var tags: RecordedTags
    private var writtenTags: RecordedTags
    private var facts: [RecordedEvent.Subject: Fact] = [:]
    private var current: EventBlock
    private var isCurrentChanged = false
    private var waiting: [EventBlock] = []
    /// The latest time of each block before the current one, by sequence number.
    private var earlier: [UInt64: Int64] = [:]
    private var erased: Set<Int> = []
    /// Number of events that were not recorded: too long, or not written in time.
    public private(set) var lost = 0

    /// - Parameters:
    ///   - base: the base topic of the bridge.
    ///   - hours: how long events are kept.
    ///   - blocks: the blocks of the file.
    ///   - tags: the table of tags.
    public init(base: String, hours: Int, blocks: [EventBlock] = [], tags: RecordedTags = RecordedTags()) {
        prefix = base + "/tag/"
        retention = Int64(hours) * 3_600_000
        self.tags = tags
        current = blocks.last ?? EventBlock(sequence: 1)
        for block in blocks {
            if block.sequence < current.sequence { earlier[block.sequence] = block.lastTime }
            for event in block.events {
                self.tags.keepFree(through: event.subject.tag)
                if event.subject.kind.isFact {
                    facts[event.subject] = Fact(payload: event.payload, block: block.sequence)
                }
            }
        }
        writtenTags = self.tags
    }

    /// The longest time that a block spans.
    public var blockSpan: Duration { .milliseconds(span) }

    private var span: Int64 { retention / Self.parts }

    // MARK: Entries

    /// Records entries, and erases what has become too old.
    ///
    /// - Parameters:
    ///   - entries: in the order in which they happened.
    ///   - now: the current time, in milliseconds since 1970.
    public mutating func add(_ entries: [Entry], at now: Int64) {
        for entry in entries {
            switch entry {
            case .published(let publication, let time): record(publication, at: Self.clamped(time))
            case .forgotten(let id):
                guard let number = tags.remove(id) else { continue }
                facts = facts.filter { $0.key.tag != number }
            }
        }
        expire(at: Self.clamped(now))
    }

    /// The clock may be wrong by any amount.
    private static func clamped(_ time: Int64) -> Int64 {
        min(max(time, RecordedEvent.times.lowerBound), RecordedEvent.times.upperBound)
    }

    private mutating func record(_ publication: Publication, at time: Int64) {
        guard !publication.payload.isEmpty, let (id, kind) = subject(of: publication.topic) else { return }
        let subject = RecordedEvent.Subject(tag: tags.number(of: id), kind: kind)
        let payload = tags.concealed(publication.payload)
        if kind.isFact, facts[subject]?.payload == payload { return }
        let event = RecordedEvent(unixMilliseconds: time, subject: subject, payload: payload)
        if event.map({ append($0) }) != true { lost += 1 }
    }

    /// The tag and kind of a topic that is recorded; nil for other topics.
    private func subject(of topic: String) -> (TagID, RecordedEvent.Kind)? {
        guard topic.hasPrefix(prefix) else { return nil }
        let levels = topic.dropFirst(prefix.count).split(separator: "/", maxSplits: 1)
        guard levels.count == 2, let kind = RecordedEvent.Kind(String(levels[1])),
            let id = TagID(String(levels[0]))
        else { return nil }
        return (id, kind)
    }

    private mutating func append(_ event: RecordedEvent) -> Bool {
        if isSpanOver(at: event.unixMilliseconds), !beginBlock(at: event.unixMilliseconds) { return false }
        while !current.append(event) {
            guard beginBlock(at: event.unixMilliseconds) else { return false }
        }
        isCurrentChanged = true
        if event.subject.kind.isFact {
            facts[event.subject] = Fact(payload: event.payload, block: current.sequence)
        }
        return true
    }

    private func isSpanOver(at time: Int64) -> Bool {
        current.firstTime.map { time - $0 >= span } ?? false
    }

    private mutating func beginBlock(at time: Int64) -> Bool {
        guard waiting.count < Self.maxWaiting else { return false }
        if isCurrentChanged { waiting.append(current) }
        isCurrentChanged = false
        earlier[current.sequence] = current.lastTime
        current = EventBlock(sequence: current.sequence + 1)
        let count = UInt64(EventBlock.count)
        if current.sequence >= count { earlier[current.sequence - count] = nil }
        erased.remove(current.offset)
        guard current.sequence >= count - Self.margin else { return true }
        let limit = current.sequence - (count - Self.margin)
        // The other half is for the event itself and those after it.
        repeatFacts(at: time, within: EventBlock.capacity / 2) { $0 <= limit }
        return true
    }

    /// Repeats facts of some blocks in the current one, the oldest first, as far as there is room.
    private mutating func repeatFacts(at time: Int64, within bytes: Int, of isBlock: (UInt64) -> Bool) {
        for (subject, fact) in sortedFacts(of: isBlock) {
            guard
                let event = RecordedEvent(
                    unixMilliseconds: time, subject: subject, isRepetition: true, payload: fact.payload),
                current.body.count + event.line.count <= bytes, current.append(event)
            else { return }
            isCurrentChanged = true
            facts[subject]?.block = current.sequence
        }
    }

    private func sortedFacts(of isBlock: (UInt64) -> Bool) -> [(key: RecordedEvent.Subject, value: Fact)] {
        facts.filter { isBlock($0.value.block) }.sorted {
            ($0.value.block, $0.key.tag, $0.key.kind.name) < ($1.value.block, $1.key.tag, $1.key.kind.name)
        }
    }

    // MARK: Time

    private mutating func expire(at now: Int64) {
        if isSpanOver(at: now) { _ = beginBlock(at: now) }
        let old = Set(earlier.filter { $0.value < now - retention }.keys)
        guard !old.isEmpty else { return }
        // A block with facts for which there is no room now is erased after the next write.
        var kept: Set<UInt64> = []
        for (subject, fact) in sortedFacts(of: old.contains) {
            let event = RecordedEvent(
                unixMilliseconds: now, subject: subject, isRepetition: true, payload: fact.payload)
            if let event, !append(event) { kept.insert(fact.block) }
        }
        for sequence in old.subtracting(kept) {
            guard earlier.removeValue(forKey: sequence) != nil else { continue }
            erased.insert(EventBlock.offset(of: sequence))
        }
        waiting.removeAll { old.contains($0.sequence) && !kept.contains($0.sequence) }
    }

    // MARK: Writing

    /// The changes that are not written yet.
    public var changes: Changes {
        Changes(
            tags: tags == writtenTags ? nil : tags, blocks: waiting + (isCurrentChanged ? [current] : []),
            erased: erased.sorted())
    }

    /// Handles that ``changes`` are written.
    public mutating func written() {
        writtenTags = tags
        waiting = []
        isCurrentChanged = false
        erased = []
    }
}
