import Time

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
