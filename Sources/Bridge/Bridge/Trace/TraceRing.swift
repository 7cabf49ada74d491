/// The latest entries, in a ring. Each entry has a number, from 1. Its memory is allocated as it fills.
///
/// An unknown number, such as 0 or one that the ring has overwritten, is ignored.
struct TraceRing<Entry: Sendable>: Sendable {
    private let capacity: Int
    private var entries: [Entry] = []
    private var last: UInt64 = 0

    /// - Parameter capacity: number of entries, a power of two.
    init(capacity: Int) {
        precondition(capacity.nonzeroBitCount == 1, "the capacity of a ring is a power of two")
        self.capacity = capacity
    }

    /// Adds an entry and returns its number.
    mutating func append(_ entry: Entry) -> UInt64 {
        last += 1
        if entries.count < capacity { entries.append(entry) } else { entries[place(last)] = entry }
        return last
    }

    /// Changes an entry.
    mutating func update(_ number: UInt64, _ change: (inout Entry) -> Void) {
        if isKept(number) { change(&entries[place(number)]) }
    }

    /// Returns the latest entries that meet a condition, oldest first.
    func latest(_ count: Int, where isIncluded: (Entry) -> Bool) -> [Entry] {
        var found: [Entry] = []
        var number = last
        while isKept(number), found.count < count {
            let entry = entries[place(number)]
            if isIncluded(entry) { found.append(entry) }
            number -= 1
        }
        return found.reversed()
    }

    private func isKept(_ number: UInt64) -> Bool {
        number > 0 && number <= last && number + UInt64(capacity) > last
    }

    private func place(_ number: UInt64) -> Int {
        Int(truncatingIfNeeded: number &- 1) & (capacity &- 1)
    }
}
