/// An event in the history of events: a line `<milliseconds since 1970> <tag> <kind> <payload>`.
///
/// It has no id, serial or address of a tag: see ``RecordedTags``.
struct RecordedEvent: Hashable, Sendable {
    /// A topic of a tag that is recorded.
    ///
    /// Left out are streams (`touch`, `slide`), values that say nothing about an event (`stats`, `rssi`), the topic with the tag's
    /// serial and address (`info`), and results with these, with names or with values of the tag's store.
    struct Kind: Hashable, Sendable {
        /// The last levels of the topic, such as `battery/level`.
        let name: String
        /// Whether it is a fact, which the broker retains.
        let isFact: Bool

        /// Those of the table of topics, and the results of commands and reflexes.
        static let all: [Kind] = {
            let topics = TagTopicTable.rows.filter(\.isRecorded).map { Kind(name: $0.name, isFact: $0.isFact) }
            let results = TagRequestTable.recordedResults + ["reflex/result"]
            return topics + results.map { Kind(name: $0, isFact: false) }
        }()

        private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

        private init(name: String, isFact: Bool) {
            (self.name, self.isFact) = (name, isFact)
        }

        /// - Returns: nil for a topic that is not recorded.
        init?(_ name: String) {
            guard let kind = Self.byName[name] else { return nil }
            self = kind
        }
    }

    /// A tag's topic.
    struct Subject: Hashable, Sendable {
        /// The tag's number in the file.
        let tag: Int
        /// The topic.
        let kind: Kind
    }

    /// When it was published, in milliseconds since 1970-01-01T00:00:00Z.
    let unixMilliseconds: Int64
    /// Its topic.
    let subject: Subject
    /// Whether it repeats a fact whose line is overwritten or expires, so that the file has the latest value of each fact.
    var isRepetition = false
    /// The payload as ``RecordedTags/concealed(_:)`` returns it.
    let payload: [UInt8]

    /// The times of events: up to the year 9999, so that a replay can add all pauses.
    static let times: ClosedRange<Int64> = 0...253_402_300_799_999
    /// Maximum length of a payload in bytes.
    static let maxPayload = 3_800

    /// - Returns: nil for a payload that is empty, too long, or has control characters that no payload has.
    init?(unixMilliseconds: Int64, subject: Subject, isRepetition: Bool = false, payload: [UInt8]) {
        guard Self.times.contains(unixMilliseconds), subject.tag > 0, (1...Self.maxPayload).contains(payload.count),
            payload.allSatisfy({ $0 >= 0x20 || $0 == RecordedTags.mark }), !isRepetition || subject.kind.isFact
        else { return nil }
        self.unixMilliseconds = unixMilliseconds
        self.subject = subject
        self.isRepetition = isRepetition
        self.payload = payload
    }

    private static let repetitionSign = "="

    /// Parses a line without its end.
    init?(line: ArraySlice<UInt8>) {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let words = parts[..<3].map { String(decoding: $0, as: UTF8.self) }
        let isRepetition = words[2].hasPrefix(Self.repetitionSign)
        guard let time = Int64(words[0]), let tag = RecordedTags.number(ofName: words[1]),
            let kind = Kind(isRepetition ? String(words[2].dropFirst()) : words[2])
        else { return nil }
        self.init(
            unixMilliseconds: time, subject: Subject(tag: tag, kind: kind), isRepetition: isRepetition,
            payload: Array(parts[3]))
    }

    /// The line with its end.
    var line: [UInt8] {
        let kind = (isRepetition ? Self.repetitionSign : "") + subject.kind.name
        return Array("\(unixMilliseconds) \(RecordedTags.name(subject.tag)) \(kind) ".utf8) + payload
            + [UInt8(ascii: "\n")]
    }
}
