/// Bounds the number of entries, such as sessions, so that no owner takes the room of others.
///
/// Without room for a new entry, the owner with the most entries loses his oldest one. Of several such owners, it is the one whose
/// oldest entry is the oldest.
struct FairShares<Owner: Hashable, Entry: Hashable> {
    private struct Place {
        let entry: Entry
        let number: UInt64
    }

    /// The most entries.
    let total: Int
    /// The number of entries.
    private(set) var count = 0
    /// The entries of each owner, the oldest first. No list is empty.
    private var places: [Owner: [Place]] = [:]
    private var last: UInt64 = 0

    init(total: Int) {
        self.total = total
    }

    /// Adds an entry.
    ///
    /// - Returns: the entry that made room and is no longer contained.
    mutating func add(_ entry: Entry, of owner: Owner) -> Entry? {
        last += 1
        places[owner, default: []].append(Place(entry: entry, number: last))
        count += 1
        guard count > total else { return nil }
        let most = places.values.map(\.count).max()
        return takeOldest { $0.count == most }
    }

    /// Removes and returns the oldest entry of all.
    mutating func takeOldest() -> Entry? {
        takeOldest { _ in true }
    }

    private mutating func takeOldest(where isCandidate: ([Place]) -> Bool) -> Entry? {
        let candidates = places.filter { isCandidate($0.value) }
        guard let owner = candidates.min(by: { $0.value[0].number < $1.value[0].number })?.key else { return nil }
        return remove(at: 0, of: owner)
    }

    /// Removes an entry, if it is contained.
    mutating func remove(_ entry: Entry, of owner: Owner) {
        guard let index = places[owner]?.firstIndex(where: { $0.entry == entry }) else { return }
        _ = remove(at: index, of: owner)
    }

    private mutating func remove(at index: Int, of owner: Owner) -> Entry? {
        let place = places[owner]?.remove(at: index)
        if places[owner]?.isEmpty == true { places[owner] = nil }
        count -= 1
        return place?.entry
    }
}
