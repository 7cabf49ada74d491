import JSON

/// Battery, signal, connection and gestures of each tag over the last 24 hours and seven days, for the charts.
struct History: Sendable {
    /// A span of time that the charts show.
    enum Span: Int64, Sendable {
        case day = 1
        case week = 7

        /// The length of a slot of everything but gestures, in seconds.
        var slotSeconds: Int64 { self == .day ? 300 : 1800 }
        /// The number of those slots.
        var slots: Int { Int(days * 24 * 3600 / slotSeconds) }
        /// The number of hours for gestures.
        var hours: Int { Int(days * 24) }

        private var days: Int64 { rawValue }
    }

    /// The most tags.
    static let mostTags = 4096
    /// The most tags in the file.
    static let mostStored = 1024
    /// The seconds after which a tag without new values is removed.
    static let longestSeconds: Int64 = 7 * 24 * 3600

    private var records: [String: HistoryRecord] = [:]
    /// The bridges that are not online: of their tags it is unknown which are connected.
    private var away: Set<String> = []
    /// The most of them.
    private static let mostAway = 1024
    /// The slot in which old tags were last removed.
    private var cleanedSlot: Int64 = 0

    /// The number of tags.
    var count: Int { records.count }

    /// Handles a message.
    ///
    /// - Parameters:
    ///   - rest: the topic below the base topic.
    ///   - payload: the payload.
    ///   - isStored: whether the broker may have stored it, or it repeats the one before.
    ///   - now: seconds since 1970.
    mutating func received(_ rest: Substring, _ payload: [UInt8], isStored: Bool = false, at now: Int64) {
        let levels = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3 else { return }
        if levels[0] == "bridge", levels[2] == "state" {
            return bridgeChanged(String(levels[1]), isOnline: payload.elementsEqual("online".utf8), at: now)
        }
        guard levels[0] == "tag", TopicPattern.isID(levels[1]) else { return }
        removeOld(at: now)
        switch levels[2] {
        case "battery" where payload.isEmpty: records[String(levels[1])]?.battery.forget()
        case "battery":
            guard let level = JSONValue(parsing: payload)?["level"]?.integer, (0...100).contains(level) else { return }
            change(levels[1], now) { $0.battery.set(Int8(level)) }
        case "rssi":
            guard let signal = JSONValue(parsing: payload)?.integer, (-127...20).contains(signal) else { return }
            change(levels[1], now) { $0.received(signal: Int8(signal), isStored: isStored) }
        case "availability":
            let word = String(decoding: payload, as: UTF8.self)
            guard word == "online" || word == "offline" else { return }
            change(levels[1], now) { $0.setAvailable(word == "online") }
        case "gesture": change(levels[1], now) { $0.gestures.count() }
        case "info" where payload.isEmpty: records[String(levels[1])] = nil
        case "info":
            let bridge = JSONValue(parsing: payload)?["bridge"]?.string
            guard records[String(levels[1])]?.bridge != bridge else { return }
            let isAway = bridge.map(away.contains) ?? false
            change(levels[1], now) { $0.belongs(to: bridge, isAway: isAway) }
        default: break
        }
    }

    /// Handles a bridge that is online, or no longer is: it leaves the availability of its tags as it was.
    ///
    /// - Parameters:
    ///   - bridge: its name.
    ///   - isOnline: whether it is online, and answers.
    ///   - isSameRun: whether it has only not answered, or answers again.
    ///   - now: seconds since 1970.
    mutating func bridgeChanged(_ bridge: String, isOnline: Bool, isSameRun: Bool = false, at now: Int64) {
        guard away.contains(bridge) == isOnline, isOnline || away.count < Self.mostAway else { return }
        if isOnline { away.remove(bridge) } else { away.insert(bridge) }
        for (id, record) in records where record.bridge == bridge {
            records[id]?.advance(to: now)
            records[id]?.isBridgeAway = !isOnline
            // A bridge that is back says anew which of its tags are online; one that has only not answered does not.
            if !isOnline, !isSameRun { records[id]?.forgetAvailability() }
        }
    }

    private mutating func change(_ tag: Substring, _ now: Int64, _ body: (inout HistoryRecord) -> Void) {
        let id = String(tag)
        guard records[id] != nil || records.count < Self.mostTags else { return }
        var record = records.removeValue(forKey: id) ?? HistoryRecord(at: now)
        record.advance(to: now)
        record.changed = now
        body(&record)
        records[id] = record
    }

    /// Handles the end of the broker's connection: from now on it is unknown which tags are connected.
    mutating func brokerLost(at now: Int64) {
        for id in records.keys {
            records[id]?.advance(to: now)
            records[id]?.forgetAvailability()
        }
    }

    /// Removes the tags without a value for a week, once in each slot; also those of a time that is more than a week away because the
    /// clock was set back.
    private mutating func removeOld(at now: Int64) {
        let slot = now / Span.day.slotSeconds
        guard slot != cleanedSlot else { return }
        cleanedSlot = slot
        records = records.filter { abs($0.value.changed - now) < Self.longestSeconds }
    }

    /// The rows of a tag, oldest first: `{"battery":[...],"connection":[...],"gestures":[...],"hour_s":3600,"signal":[...],"slot_s":300,
    /// "time_s":...}`. In `connection`, 1 is online and 0 offline for a part of the slot.
    func document(of tag: String, _ span: Span = .day, at now: Int64) -> JSONValue {
        var record = records[tag] ?? HistoryRecord(at: now)
        record.advance(to: now)
        return [
            "battery": record.battery[span].json, "signal": record.signal[span].json,
            "connection": record.connection[span].json, "gestures": record.gestures.latest(span.hours).json,
            "slot_s": .integer(span.slotSeconds), "hour_s": 3600, "time_s": .integer(now),
        ]
    }

    // MARK: File

    /// The rows of the tags that have changed last, for a file.
    var stored: JSONValue {
        let latest = records.sorted { $0.value.changed > $1.value.changed }.prefix(Self.mostStored)
        return ["version": 1, "tags": .object(Dictionary(latest.map { ($0.key, $0.value.stored) }) { $1 })]
    }

    /// What an earlier run has stored; nothing of what no release has written. It is not known what happened since.
    init(stored: JSONValue? = nil) {
        guard let stored, stored["version"] == 1, case .object(let tags)? = stored["tags"] else { return }
        for (id, document) in tags.prefix(Self.mostTags) where TopicPattern.isID(id[...]) {
            records[id] = HistoryRecord(stored: document)
        }
    }
}

/// The rows of a tag.
struct HistoryRecord: Sendable {
    /// A row in slots of both spans.
    struct Rows: Sendable {
        var day: HistoryRow<Int8>
        var week: HistoryRow<Int8>

        init(at now: Int64) {
            day = HistoryRow(count: History.Span.day.slots, at: now / History.Span.day.slotSeconds)
            week = HistoryRow(count: History.Span.week.slots, at: now / History.Span.week.slotSeconds)
        }

        subscript(span: History.Span) -> HistoryRow<Int8> { span == .day ? day : week }

        /// Moves on, filling the slots between.
        mutating func advance(to now: Int64, filling value: Int8? = nil) {
            day.advance(to: now / History.Span.day.slotSeconds, filling: value)
            week.advance(to: now / History.Span.week.slotSeconds, filling: value)
        }

        mutating func set(_ value: Int8) { (day.current, week.current) = (value, value) }

        /// Sets a value that the slot keeps if another one that is greater follows. Of a slot that began with none, nothing is said.
        mutating func lower(to value: Int8) {
            day.current = day.current.map { min($0, value) }
            week.current = week.current.map { min($0, value) }
        }

        mutating func forget() {
            day.forget()
            week.forget()
        }
    }

    var battery: Rows
    var signal: Rows
    var connection: Rows
    var gestures: HistoryRow<Int16>
    /// The bridge of the tag; nil if it is unknown.
    private(set) var bridge: String?
    /// Whether the tag is online by its bridge's last message; nil if there is none.
    private var isAvailable: Bool?
    /// A stored signal that came before it was known whether the tag is online.
    private var waitingSignal: Int8?
    var isBridgeAway = false
    /// The time of the last value.
    var changed: Int64

    init(at now: Int64) {
        (battery, signal, connection) = (Rows(at: now), Rows(at: now), Rows(at: now))
        gestures = HistoryRow(count: History.Span.week.hours, at: now / 3600)
        changed = now
    }

    mutating func advance(to now: Int64) {
        battery.advance(to: now)
        signal.advance(to: now)
        connection.advance(to: now, filling: isOnline.map { $0 ? 1 : 0 })
        gestures.advance(to: now / 3600)
    }

    /// Whether the tag is online now; nil if it is unknown.
    var isOnline: Bool? { isBridgeAway ? nil : isAvailable }

    /// A short time offline is seen, too.
    mutating func setAvailable(_ isAvailable: Bool) {
        self.isAvailable = isAvailable
        if let isOnline { connection.lower(to: isOnline ? 1 : 0) }
        if let waitingSignal, isOnline == true { signal.set(waitingSignal) }
        waitingSignal = nil
    }

    /// A stored signal of a tag that is offline is an old one.
    mutating func received(signal level: Int8, isStored: Bool) {
        guard isStored, isOnline != true else { return signal.set(level) }
        if isAvailable == nil { waitingSignal = level }
    }

    /// It is said anew whether the tag is online.
    mutating func forgetAvailability() { isAvailable = nil }

    mutating func belongs(to bridge: String?, isAway: Bool) {
        self.bridge = bridge
        isBridgeAway = isAway
    }
}

/// A row of numbers whose last one belongs to the current slot; nil is unknown.
struct HistoryRow<Value: FixedWidthInteger & Sendable>: Sendable {
    private var values: [Value]
    private var last: Int64
    private static var unknown: Value { .min }

    init(count: Int, at slot: Int64) {
        values = Array(repeating: Self.unknown, count: count)
        last = slot
    }

    /// Moves on to a slot. Earlier slots than the last one don't change the row.
    mutating func advance(to slot: Int64, filling value: Value? = nil) {
        guard slot > last else { return }
        let steps = Int(min(slot - last, Int64(values.count)))
        values.removeFirst(steps)
        values += Array(repeating: value ?? Self.unknown, count: steps)
        last = slot
    }

    var current: Value? {
        get { values.last.flatMap { $0 == Self.unknown ? nil : $0 } }
        set { values[values.count - 1] = newValue ?? Self.unknown }
    }

    mutating func count() { current = min((current ?? 0) + 1, Value.max - 1) }

    mutating func forget() { values = Array(repeating: Self.unknown, count: values.count) }

    /// The same row with its last values only.
    func latest(_ count: Int) -> HistoryRow {
        var row = self
        row.values.removeFirst(values.count - count)
        return row
    }

    var json: JSONValue { .array(values.map(Self.json)) }

    private static func json(_ value: Value) -> JSONValue { value == unknown ? .null : .integer(Int64(value)) }
}

// MARK: File

extension HistoryRow {
    /// The slot of the last value, then the values, oldest first: `5984424 -*200 87 86*3`. A number behind a star says how often, and `-` is
    /// unknown. As a tree of numbers, the rows of a hundred tags would take megabytes for a moment.
    fileprivate var stored: JSONValue {
        var text = String(last)
        var rest = values[...]
        while let value = rest.first {
            let run = rest.prefix { $0 == value }.count
            rest.removeFirst(run)
            text += value == Self.unknown ? " -" : " \(value)"
            if run > 1 { text += "*\(run)" }
        }
        return .string(text)
    }

    /// Takes the stored values; unknown ones if they are not those of a row of this length.
    fileprivate mutating func restore(_ stored: JSONValue?) {
        var words = (stored?.string ?? "").split(separator: " ")[...]
        guard let last = words.popFirst().flatMap({ Int64($0) }), words.count <= values.count else { return }
        var restored: [Value] = []
        for word in words {
            let parts = word.split(separator: "*", omittingEmptySubsequences: false)
            let count = parts.count == 1 ? 1 : Int(parts[1])
            guard parts.count <= 2, let count, count > 0, count <= values.count - restored.count,
                let value = parts[0] == "-" ? Self.unknown : Value(parts[0])
            else { return }
            restored += Array(repeating: value, count: count)
        }
        guard restored.count == values.count else { return }
        (values, self.last) = (restored, last)
    }
}

extension HistoryRecord.Rows {
    fileprivate var stored: JSONValue { ["day": day.stored, "week": week.stored] }

    fileprivate mutating func restore(_ stored: JSONValue?) {
        day.restore(stored?["day"])
        week.restore(stored?["week"])
    }
}

extension HistoryRecord {
    fileprivate var stored: JSONValue {
        [
            "battery": battery.stored, "signal": signal.stored, "connection": connection.stored,
            "gestures": gestures.stored, "changed_s": .integer(changed),
        ]
    }

    fileprivate init?(stored: JSONValue) {
        guard let changed = stored["changed_s"]?.integer, changed >= 0 else { return nil }
        self.init(at: changed)
        battery.restore(stored["battery"])
        signal.restore(stored["signal"])
        connection.restore(stored["connection"])
        gestures.restore(stored["gestures"])
    }
}
