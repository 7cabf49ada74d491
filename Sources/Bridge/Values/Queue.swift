/// First in, first out; taking from the front costs the same however many wait.
struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var head = 0

    /// How many wait.
    var count: Int { elements.count - head }

    /// For how many there is room without another allocation.
    var room: Int { elements.capacity }

    var isEmpty: Bool { count == 0 }

    /// The one that waits longest.
    var first: Element? { isEmpty ? nil : elements[head] }

    /// All of them, in order.
    var all: [Element] { elements[head...].compactMap(\.self) }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Takes the one that waits longest.
    @discardableResult
    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        compact()
        return element
    }

    /// Keeps some of them.
    mutating func replaceAll(_ remaining: [Element]) {
        elements = remaining
        head = 0
    }

    /// Room for more than this is given back when nobody waits.
    private static var keptRoom: Int { 256 }

    /// Gives back the room in front once it is the larger part, and after a rush all of it.
    private mutating func compact() {
        if isEmpty, elements.capacity > Self.keptRoom { return replaceAll([]) }
        guard head > 32, head * 2 > elements.count else { return }
        elements.removeSubrange(..<head)
        head = 0
    }
}
