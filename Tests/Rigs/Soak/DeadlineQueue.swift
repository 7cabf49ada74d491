/// Items with the time at which they are due.
struct DeadlineQueue<Item> {
    private var items: [(at: ContinuousClock.Instant, item: Item)] = []

    var isEmpty: Bool { items.isEmpty }

    mutating func add(_ item: Item, at instant: ContinuousClock.Instant) {
        items.append((instant, item))
    }

    /// Takes what is due, in the order of its time.
    mutating func takeDue(at now: ContinuousClock.Instant) -> [Item] {
        let due = items.filter { $0.at <= now }.sorted { $0.at < $1.at }
        items.removeAll { $0.at <= now }
        return due.map(\.item)
    }

    /// Takes everything.
    mutating func takeAll() -> [Item] {
        defer { items = [] }
        return items.sorted { $0.at < $1.at }.map(\.item)
    }
}
