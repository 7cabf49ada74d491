/// An event as browsers receive it.
struct MirrorEvent: Hashable, Sendable {
    let number: UInt64
    let topic: String
    /// Whether the broker keeps the topic's last message.
    let isRetained: Bool
    /// Whether it removes a tag.
    let endsTag: Bool
    /// The event as bytes of the stream.
    fileprivate(set) var text: [UInt8]
    private let prefix: Int

    init(_ message: MirroredMessage, _ id: EventID) {
        number = id.number
        topic = message.topic
        isRetained = message.isRetained
        endsTag = message.endsTag
        let json = message.json
        text = StreamText.event(json, id: id)
        prefix = text.count - json.count - StreamText.end.utf8.count
    }

    /// The message as a JSON object. It is stored once, in the text.
    var json: ArraySlice<UInt8> { text[prefix..<(text.count - StreamText.end.utf8.count)] }
}

/// The newest events, for browsers that reconnect and for the history of a page that has just been opened.
///
/// Bounded in number and in bytes of text; the newest one is always stored.
struct EventRing {
    private let size: Int
    private let bytes: Int
    /// The event with the number n is at (n - 1) modulo size. The text of events before ``first`` is released.
    private var events: [MirrorEvent] = []
    private var storedBytes = 0
    /// The number of the oldest stored event.
    private var first: UInt64 = 1
    /// The number of the newest event; 0 before the first one.
    private(set) var last: UInt64 = 0

    init(size: Int, bytes: Int) {
        self.size = size
        self.bytes = bytes
    }

    /// Stores an event, whose number follows that of the last one.
    mutating func append(_ event: MirrorEvent) {
        last += 1
        if last - first == UInt64(size) { removeFirst() }
        let position = position(of: last)
        if position == events.count { events.append(event) } else { events[position] = event }
        storedBytes += event.text.count
        while storedBytes > bytes, first < last { removeFirst() }
    }

    private mutating func removeFirst() {
        let position = position(of: first)
        storedBytes -= events[position].text.count
        events[position].text = []
        first += 1
    }

    private func position(of number: UInt64) -> Int { Int((number - 1) % UInt64(size)) }

    /// The events after a number, oldest first; nil if they are not all stored.
    func events(after number: UInt64) -> [MirrorEvent]? {
        guard number <= last, number + 1 >= first else { return nil }
        return (number..<last).map { events[position(of: $0 + 1)] }
    }

    /// All stored events, oldest first.
    var all: [MirrorEvent] { events(after: first - 1) ?? [] }
}
