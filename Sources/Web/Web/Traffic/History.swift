import JSON

/// Battery, signal and gestures of each tag over the last 24 hours, for the charts.
struct History {
    /// The length of a slot of battery and signal.
    static let slotSeconds: Int64 = 300
    /// The number of slots in 24 hours.
    static let slots = 288
    /// The number of hours for gestures.
    static let hours = 24
    /// The most tags.
    static let mostTags = 4096
    /// The seconds after which a tag without new values is removed.
    static let daySeconds: Int64 = 24 * 3600

    /// A row of numbers whose last one belongs to the current slot; nil is unknown.
    fileprivate struct Row {
        private var values: [Int16]
        private var last: Int64
        private static let unknown = Int16.min

        init(count: Int, at slot: Int64) {
            values = Array(repeating: Self.unknown, count: count)
            last = slot
        }

        /// Moves on to a slot. Earlier slots than the last one don't change the row.
        mutating func advance(to slot: Int64) {
            guard slot > last else { return }
            let steps = Int(min(slot - last, Int64(values.count)))
            values.removeFirst(steps)
            values += Array(repeating: Self.unknown, count: steps)
            last = slot
        }

        var current: Int16? {
            get { values.last.flatMap { $0 == Self.unknown ? nil : $0 } }
            set { values[values.count - 1] = newValue ?? Self.unknown }
        }

        var json: JSONValue { .array(values.map { $0 == Self.unknown ? .null : .integer(Int64($0)) }) }
    }

    fileprivate struct Record {
        var battery: Row
        var signal: Row
        var gestures: Row
        /// The time of the last value.
        var changed: Int64

        init(at now: Int64) {
            battery = Row(count: History.slots, at: now / History.slotSeconds)
            signal = Row(count: History.slots, at: now / History.slotSeconds)
            gestures = Row(count: History.hours, at: now / 3600)
            changed = now
        }
    }

    private var records: [String: Record] = [:]
    /// The slot in which old tags were last removed.
    private var cleanedSlot: Int64 = 0

    /// The number of tags.
    var count: Int { records.count }

    /// Handles a message.
    ///
    /// - Parameters:
    ///   - rest: the topic below the base topic.
    ///   - payload: the payload.
    ///   - now: seconds since 1970.
    mutating func received(_ rest: Substring, _ payload: [UInt8], at now: Int64) {
        let levels = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3, levels[0] == "tag", TopicPattern.isID(levels[1]) else { return }
        removeOld(at: now)
        switch levels[2] {
        case "battery" where payload.isEmpty:
            records[String(levels[1])]?.battery = Row(count: Self.slots, at: now / Self.slotSeconds)
        case "battery":
            guard let level = JSONValue(parsing: payload)?["level"]?.integer, (0...100).contains(level) else { return }
            change(levels[1], now) { $0.battery.current = Int16(level) }
        case "rssi":
            guard let signal = JSONValue(parsing: payload)?.integer, (-127...20).contains(signal) else { return }
            change(levels[1], now) { $0.signal.current = Int16(signal) }
        case "gesture":
            change(levels[1], now) { $0.gestures.current = min(($0.gestures.current ?? 0) + 1, Int16.max - 1) }
        case "info" where payload.isEmpty: records[String(levels[1])] = nil
        default: break
        }
    }

    private mutating func change(_ tag: Substring, _ now: Int64, _ body: (inout Record) -> Void) {
        let id = String(tag)
        guard records[id] != nil || records.count < Self.mostTags else { return }
        var record = records.removeValue(forKey: id) ?? Record(at: now)
        record.advance(to: now)
        record.changed = now
        body(&record)
        records[id] = record
    }

    /// Removes the tags without a value in the last 24 hours, once in each slot; also those of a time that is more than a day away
    /// because the clock was set back.
    private mutating func removeOld(at now: Int64) {
        guard now / Self.slotSeconds != cleanedSlot else { return }
        cleanedSlot = now / Self.slotSeconds
        records = records.filter { abs($0.value.changed - now) < Self.daySeconds }
    }

    /// The rows of a tag, oldest first: `{"battery":[...],"gestures":[...],"hour_s":3600,"signal":[...],"slot_s":300,"time_s":...}`.
    func document(of tag: String, at now: Int64) -> JSONValue {
        var record = records[tag] ?? Record(at: now)
        record.advance(to: now)
        return [
            "battery": record.battery.json, "signal": record.signal.json, "gestures": record.gestures.json,
            "slot_s": .integer(Self.slotSeconds), "hour_s": 3600, "time_s": .integer(now),
        ]
    }
}

extension History.Record {
    fileprivate mutating func advance(to now: Int64) {
        battery.advance(to: now / History.slotSeconds)
        signal.advance(to: now / History.slotSeconds)
        gestures.advance(to: now / 3600)
    }
}
