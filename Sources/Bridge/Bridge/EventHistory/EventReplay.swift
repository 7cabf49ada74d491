/// The messages of a replay: recorded events without their base topic.
public struct EventReplay: Sendable {
    /// A message.
    public struct Message: Hashable, Sendable {
        /// When the bridge published it, in milliseconds since 1970.
        public let unixMilliseconds: Int64
        /// The topic without its base, such as `tag/003R/gesture`.
        public let topic: String
        /// The payload, as the bridge published it.
        public let payload: [UInt8]
        /// Whether it has the retain flag.
        public let isRetained: Bool
    }

    /// The facts at the start, which a client receives when it subscribes.
    public let facts: [Message]
    /// The events and changed facts after that, in their order.
    public let events: [Message]

    /// Prepares the replay of a part of a file.
    ///
    /// - Parameters:
    ///   - blocks: the blocks of the file.
    ///   - tags: the table of tags; an empty one leaves the names of the file.
    ///   - start: the first time, in milliseconds since 1970; nil: that of the first event.
    ///   - end: the last time; nil: that of the last event.
    public init(_ blocks: [EventBlock], tags: RecordedTags, from start: Int64? = nil, until end: Int64? = nil) {
        var before: [RecordedEvent.Subject: RecordedEvent] = [:]
        var known: [RecordedEvent.Subject: [UInt8]] = [:]
        var events: [RecordedEvent] = []
        for event in blocks.flatMap(\.events) {
            let isFirst = known[event.subject] == nil
            if event.subject.kind.isFact {
                guard known.updateValue(event.payload, forKey: event.subject) != event.payload else { continue }
            }
            // The original line of a first repetition was overwritten or erased, so the fact is older than the file.
            if event.isRepetition && isFirst || event.unixMilliseconds < start ?? 0 {
                if event.subject.kind.isFact { before[event.subject] = event }
            } else if event.unixMilliseconds <= end ?? .max {
                events.append(event)
            }
        }
        let order = RecordedEvent.Kind.all
        func place(_ fact: RecordedEvent) -> (Int, Int) {
            (fact.subject.tag, order.firstIndex(of: fact.subject.kind) ?? 0)
        }
        facts = before.values.sorted { place($0) < place($1) }.map { Message($0, tags) }
        self.events = events.map { Message($0, tags) }
    }
}

extension EventReplay.Message {
    fileprivate init(_ event: RecordedEvent, _ tags: RecordedTags) {
        self.init(
            unixMilliseconds: event.unixMilliseconds,
            topic: "tag/\(tags.level(of: event.subject.tag))/\(event.subject.kind.name)",
            payload: tags.revealed(event.payload), isRetained: event.subject.kind.isFact)
    }
}
