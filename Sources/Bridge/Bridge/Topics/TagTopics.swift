import JSON

/// The topics of tags that are no feature's.
extension TopicRow {
    static let availability = TopicRow("availability", .fact, isRecorded: true) { document in
        document == "online" ? "can be reached by commands" : "cannot be reached by commands"
    }

    static let connection = TopicRow("connection", .fact, isRecorded: true) { "is \(ConnectionText($0).long)" }

    static let battery = TopicRow("battery", .fact, isRecorded: true) { document in
        guard let level = document["level"]?.word else { return nil }
        return "battery is at \(level) %" + (document["charging"]?.flag == true ? " and charging" : "")
    }

    static let batteryLevel = TopicRow("battery/level", .fact, isRecorded: true, isOnPage: false)

    static let gear = TopicRow("gear", .fact, isRecorded: true) { document in
        switch document["attached"]?.flag {
        case true: "\(gearName(document)) is attached"
        case false: "no gear is attached"
        case nil: nil
        }
    }

    static let info = TopicRow("info", .fact) { document in
        let words = ["name", "firmware", "address"].compactMap { key in document[key]?.word.map { "\(key) \($0)" } }
        return words.isEmpty ? nil : "has \(words.joined(separator: ", "))"
    }

    static let led = TopicRow("led", .fact, isRecorded: true) { document in
        guard let state = document["state"]?.word else { return nil }
        guard state == "ON", let color = document["color"] else { return "LED is \(state.lowercased())" }
        let parts = ["r", "g", "b"].map { color[$0]?.word ?? "?" }
        let effect = document["effect"]?.word?.asWords ?? "solid"
        return "LED is on: red \(parts[0]), green \(parts[1]), blue \(parts[2]), \(effect)"
    }

    static let rssi = TopicRow("rssi", .fact) { $0.word.map { "signal strength is \($0) dBm" } }

    static let stats = TopicRow("stats", .fact)

    static let gesture = TopicRow("gesture", .event, isRecorded: true) { document in
        let name = document["event_type"]?.word ?? "unknown"
        let number = document["seq"]?.word.map { ", number \($0) since the start" } ?? ""
        guard name == "unknown" else { return "gesture \(name.asWords)\(number)" }
        return "unknown gesture \(document["gesture"]?.word ?? "")\(number)"
    }

    static let touch = TopicRow("touch", .stream, isOnPage: false) { document in
        let lines = (document["lines"]?.elements ?? []).map { $0.word ?? "?" }.joined(separator: " ")
        return "touch: proximity \(document["proximity"]?.word ?? "?"), lines \(lines)"
    }

    /// Vendor and product; for gear without names, their numbers.
    private static func gearName(_ document: JSONValue) -> String {
        func words(_ keys: [String]) -> [String] { keys.compactMap { document[$0]?.word } }
        let names = words(["vendor", "product"])
        return (names.isEmpty ? ["unknown gear"] + words(["vendor_id", "product_id"]) : names).joined(separator: " ")
    }
}

/// The topics of one tag.
public struct TagTopics: Equatable, Sendable {
    private let prefix: String
    /// Whether the bridge has several radios.
    let hasRadios: Bool
    /// The topic of gestures. It is created once, because each gesture needs it.
    let gesture: String
    /// The topic of the LED, which each command to the LED needs.
    let led: String

    init(prefix: String, hasRadios: Bool) {
        self.prefix = prefix
        self.hasRadios = hasRadios
        gesture = prefix + TopicRow.gesture.name
        led = prefix + TopicRow.led.name
    }

    /// The topic of a row.
    subscript(row: TopicRow) -> String { prefix + row.name }

    /// The tag's topic, `T`: the prefix of its topics without the last slash.
    var tag: String { String(prefix.dropLast()) }

    /// The topic of a command, such as `led/set`.
    func command(_ name: String) -> String {
        prefix + name
    }
}
