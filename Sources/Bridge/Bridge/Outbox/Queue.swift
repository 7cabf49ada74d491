/// A FIFO queue. Removing the first element takes amortized constant time.
struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var head = 0

    /// Number of elements.
    var count: Int { elements.count - head }

    /// Number of elements that fit without another allocation.
    var room: Int { elements.capacity }

    var isEmpty: Bool { count == 0 }

    /// The oldest element.
    var first: Element? { isEmpty ? nil : elements[head] }

    /// All elements, oldest first.
    var all: [Element] { elements[head...].compactMap(\.self) }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Removes and returns the oldest element.
    @discardableResult
    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head].take()
        head += 1
        compact()
        return element
    }

    /// Replaces the contents.
    mutating func replaceAll(_ remaining: [Element]) {
        elements = remaining
        head = 0
    }

    /// Maximum capacity that an empty queue keeps.
    private static var keptRoom: Int { 256 }

    /// Compacts the storage once more than half of it is unused, and releases excess capacity of an empty queue.
    private mutating func compact() {
        if isEmpty, elements.capacity > Self.keptRoom { return replaceAll([]) }
        guard head > 32, head * 2 > elements.count else { return }
        elements.removeSubrange(..<head)
        head = 0
    }
}
