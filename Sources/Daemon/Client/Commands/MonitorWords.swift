import Bridge
import JSON

/// What the documents of the contract say, in a few words.
enum MonitorWords {
    /// The words for a message of the bridge or of a tag.
    ///
    /// - Parameters:
    ///   - kind: the topic behind the owner's part, such as `gesture` or `led/result`.
    ///   - document: the payload.
    ///   - owner: whose it is.
    /// - Returns: nil for what another topic has said already, and for a topic that was cleared.
    static func words(_ kind: String, _ document: JSONValue, _ owner: TopicOwner) -> String? {
        guard document != .string("") else { return nil }
        if kind.hasSuffix("/result") || kind.hasPrefix("response/") { return result(document) }
        switch owner {
        case .tag: return tag(kind, document)
        case .bridge: return bridge(kind, document)
        }
    }

    private static func tag(_ kind: String, _ document: JSONValue) -> String? {
        switch kind {
        case "gesture": gesture(document)
        case "connection": ConnectionText(document).long
        case "battery": battery(document)
        case "gear": gear(document)
        case "led": led(document)
        case "rssi": document.word.map { "\($0) dBm" }
        case "touch": touch(document)
        case "info": info(document)
        case "battery/level", "stats": nil
        default: document.word ?? document.text
        }
    }

    private static func bridge(_ kind: String, _ document: JSONValue) -> String? {
        switch kind {
        case "health": health(document)
        case "adapter": (document.elements ?? []).map(adapter).joined(separator: ", ")
        case "scan": document["scanning"]?.flag == true ? "scanning" : "not scanning"
        case "event": event(document)
        case "advertisement": advertisement(document)
        case "info": document["version"]?.word.map { "version \($0)" }
        case "tags": document["connected"]?.word.map { "\($0) of \(document["known"]?.word ?? "?") connected" }
        // The events of the bridge and the advertisements say the same.
        case "pairing", "found": nil
        default: document.word ?? document.text
        }
    }

    private static func result(_ document: JSONValue) -> String {
        let status = document["status"]?.word ?? document.text
        guard let error = document["error"], let code = error["code"]?.string else { return status }
        return "\(status): \(code): \(error["text"]?.string ?? "")"
    }
}

extension MonitorWords {
    private static func gesture(_ document: JSONValue) -> String {
        let name = document["event_type"]?.word ?? "unknown"
        let number = name == "unknown" ? document["gesture"]?.word.map { " \($0)" } ?? "" : ""
        return name + number + (document["seq"]?.word.map { "  #\($0)" } ?? "")
    }

    private static func battery(_ document: JSONValue) -> String? {
        guard let level = document["level"]?.word else { return nil }
        return "\(level) %" + (document["charging"]?.flag == true ? ", charging" : "")
    }

    private static func gear(_ document: JSONValue) -> String? {
        switch document["attached"]?.flag {
        case true: gearName(document) + " attached"
        case false: "no gear"
        case nil: nil
        }
    }

    /// Vendor and product; the numbers of gear that has no name.
    private static func gearName(_ document: JSONValue) -> String {
        func words(_ keys: [String]) -> [String] { keys.compactMap { document[$0]?.word } }
        let names = words(["vendor", "product"])
        return (names.isEmpty ? ["unknown gear"] + words(["vendor_id", "product_id"]) : names).joined(separator: " ")
    }

    private static func led(_ document: JSONValue) -> String? {
        guard let state = document["state"]?.word else { return nil }
        guard state == "ON", let color = document["color"] else { return state }
        let parts = ["r", "g", "b"].map { color[$0]?.word ?? "?" }.joined(separator: " ")
        return "ON, red green blue \(parts), \(document["effect"]?.word ?? "solid")"
    }

    private static func touch(_ document: JSONValue) -> String {
        let lines = (document["lines"]?.elements ?? []).map { $0.word ?? "?" }.joined(separator: " ")
        return "proximity \(document["proximity"]?.word ?? "?"), lines \(lines)"
    }

    private static func info(_ document: JSONValue) -> String? {
        let words = ["name", "firmware", "address"].compactMap { key in document[key]?.word.map { "\(key) \($0)" } }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    private static func health(_ document: JSONValue) -> String {
        let problems = (document["problems"]?.elements ?? []).compactMap { $0["text"]?.word }
        return ([document["status"]?.word ?? "unknown"] + problems).joined(separator: "; ")
    }

    private static func adapter(_ document: JSONValue) -> String {
        ["id", "state"].compactMap { document[$0]?.word }.joined(separator: " ").asWords
    }

    private static func event(_ document: JSONValue) -> String {
        guard case .object(let keys) = document else { return document.text }
        let rest = keys.filter { $0.key != "type" && $0.key != "time" }.sorted { $0.key < $1.key }
        let words = rest.compactMap { key, value in value.word.map { "\(key) \($0)" } }
        return ([document["type"]?.word?.asWords ?? "event"] + words).joined(separator: ", ")
    }

    private static func advertisement(_ document: JSONValue) -> String {
        let words = ["serial", "name", "address"].compactMap { document[$0]?.word }.joined(separator: " ")
        return words + (document["rssi"]?.word.map { ", \($0) dBm" } ?? "")
            + (document["known"]?.flag == true ? ", known" : "")
    }
}
