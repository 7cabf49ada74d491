import Time

/// When something of each tag is due, in order of time: the next one is known without a look at all tags, and a tag whose
/// time changes is moved alone.
struct Agenda: Sendable {
    private struct Entry: Comparable, Sendable {
        let due: Instant
        let tag: Int

        static func < (left: Entry, right: Entry) -> Bool {
            (left.due, left.tag) < (right.due, right.tag)
        }
    }

    /// By tag; nil for one of which nothing is due.
    private var dues: [Instant?]
    /// The others, sorted.
    private var entries: [Entry] = []

    /// So many tags of which nothing is due.
    init(tags: Int = 0) {
        dues = Array(repeating: nil, count: tags)
    }

    /// When the first of all is due.
    var next: Instant? { entries.first?.due }

    /// The tags of which something is due, in the order of their numbers.
    func tags(dueAt now: Instant) -> [Int] {
        entries.prefix { $0.due <= now }.map(\.tag).sorted()
    }

    /// Something of a tag is due then, or never.
    mutating func set(_ due: Instant?, of tag: Int) {
        guard due != dues[tag] else { return }
        if let old = dues[tag] { entries.remove(at: place(of: Entry(due: old, tag: tag))) }
        if let due {
            let entry = Entry(due: due, tag: tag)
            entries.insert(entry, at: place(of: entry))
        }
        dues[tag] = due
    }

    /// Where an entry stands, or belongs: behind all that are earlier.
    private func place(of entry: Entry) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < entry { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
