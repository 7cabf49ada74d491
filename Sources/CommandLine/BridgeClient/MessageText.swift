import Bridge
import BrokerAccess
import JSON

/// Describes messages of the MQTT contract, each with a short sentence about the tag or the bridge.
enum MessageText {
    /// Returns the sentence for a message of the bridge or of a tag.
    ///
    /// - Parameters:
    ///   - kind: the topic below that of the owner, such as `gesture` or `led/result`.
    ///   - document: the payload.
    ///   - owner: the bridge or the tag.
    /// - Returns: nil for a message that repeats another topic, and for a topic that was cleared.
    static func sentence(_ kind: String, _ document: JSONValue, _ owner: TopicOwner) -> String? {
        let parts = kind.split(separator: "/").map(String.init)
        // A command without arguments is an empty message, like a topic that was cleared.
        if parts.count == 2, parts[1] == "set" || parts[1] == "get" {
            return command(parts.joined(separator: "/"), document)
        }
        if parts.count == 2, parts[0] == "request" { return command(parts[1], document) }
        guard document != .string("") else { return nil }
        if parts.count == 2, parts[1] == "result" { return result(parts[0], document) }
        if parts.count == 2, parts[0] == "response" { return result(parts[1], document) }
        switch owner {
        case .tag: return tag(kind, document)
        case .bridge: return bridge(kind, document)
        }
    }

    private static func tag(_ kind: String, _ document: JSONValue) -> String? {
        switch kind {
        case "gesture": gesture(document)
        case "connection": connection(document)
        case "battery": battery(document)
        case "battery/forecast": document["empty"]?.word.map { "battery will be empty at \($0)" }
        case "gear": gear(document)
        case "led": led(document)
        case "rssi": document.word.map { "signal strength is \($0) dBm" }
        case "touch": touch(document)
        case "slide": slide(document)
        case "touch_mode": touchMode(document)
        case "modules": modules(document)
        case "imu": motion(document)
        case "imu/sessions": "has \(document.elements?.count ?? 0) recorded sessions"
        case "imu/data": nil
        case "raw": document["bytes"]?.word.map { "raw data (\(document["view"]?.word ?? "value")): \($0)" }
        case "presence": presence(document)
        case "find": document == "on" ? "blinks until it is found" : "does not blink"
        case "info": info(document)
        case "radios": radios(document)
        case "availability": document == "online" ? "can be reached by commands" : "cannot be reached by commands"
        case "battery/level", "stats": nil
        default: "\(kind): \(document.word ?? document.text)"
        }
    }

    private static func bridge(_ kind: String, _ document: JSONValue) -> String? {
        switch kind {
        case "state": document.word.map { "is \($0)" }
        case "health": health(document)
        case "adapter": adapters(document)
        case "scan": document["scanning"]?.flag == true ? "scans for tags" : "does not scan"
        case "event": event(document)
        case "advertisement": advertisement(document)
        case "info": document["version"]?.word.map { "runs version \($0)" }
        case "tags": tags(document)
        // Repeated by events and advertisements.
        case "pairing", "found": nil
        default: "\(kind): \(document.word ?? document.text)"
        }
    }

    private static func command(_ name: String, _ document: JSONValue) -> String {
        let payload = document == .string("") ? "" : ": \(document.word ?? document.text)"
        return "command \(name)\(payload)"
    }

    private static func result(_ command: String, _ document: JSONValue) -> String {
        let name = command.asWords
        switch document["status"]?.string {
        case "ok":
            return "\(name): done" + (document["took_ms"]?.integer.map { " after \($0) ms" } ?? "")
        case "accepted": return "\(name): accepted, the result follows"
        case "error":
            let error = document["error"]
            let code = error?["code"]?.string.map { " (\($0))" } ?? ""
            return "\(name) failed: \(error?["text"]?.string ?? "no reason is given")\(code)"
        default: return "\(name): \(document.word ?? document.text)"
        }
    }
}

extension MessageText {
    private static func gesture(_ document: JSONValue) -> String {
        let name = document["event_type"]?.word ?? "unknown"
        let number = document["seq"]?.word.map { ", number \($0) since the start" } ?? ""
        guard name == "unknown" else { return "gesture \(name.asWords)\(number)" }
        return "unknown gesture \(document["gesture"]?.word ?? "")\(number)"
    }

    private static func connection(_ document: JSONValue) -> String {
        "is \(ConnectionText(document).long)"
    }

    private static func presence(_ document: JSONValue) -> String? {
        let doubt = document["inferred"]?.flag == true ? ", as far as the bridge can tell" : ""
        return switch document["state"]?.string {
        case "here": "is here\(doubt)"
        case "asleep": "is asleep, and here\(doubt)"
        case "gone": "is gone\(doubt)"
        case "unknown": "has not been received yet"
        default: nil
        }
    }

    private static func battery(_ document: JSONValue) -> String? {
        guard let level = document["level"]?.word else { return nil }
        return "battery is at \(level) %" + (document["charging"]?.flag == true ? " and charging" : "")
    }

    private static func gear(_ document: JSONValue) -> String? {
        switch document["attached"]?.flag {
        case true: gearName(document) + " is attached"
        case false: "no gear is attached"
        case nil: nil
        }
    }

    /// Vendor and product; for gear without names, their numbers.
    private static func gearName(_ document: JSONValue) -> String {
        func words(_ keys: [String]) -> [String] { keys.compactMap { document[$0]?.word } }
        let names = words(["vendor", "product"])
        return (names.isEmpty ? ["unknown gear"] + words(["vendor_id", "product_id"]) : names).joined(separator: " ")
    }

    private static func led(_ document: JSONValue) -> String? {
        guard let state = document["state"]?.word else { return nil }
        guard state == "ON", let color = document["color"] else { return "LED is \(state.lowercased())" }
        let parts = ["r", "g", "b"].map { color[$0]?.word ?? "?" }
        let effect = document["effect"]?.word?.asWords ?? "solid"
        return "LED is on: red \(parts[0]), green \(parts[1]), blue \(parts[2]), \(effect)"
    }

    private static func touch(_ document: JSONValue) -> String {
        let lines = (document["lines"]?.elements ?? []).map { $0.word ?? "?" }.joined(separator: " ")
        return "touch: proximity \(document["proximity"]?.word ?? "?"), lines \(lines)"
    }

    private static func slide(_ document: JSONValue) -> String? {
        guard let position = document["position"]?.word else { return nil }
        return switch document["phase"]?.string {
        case "begin": "finger at \(position) of 100"
        case "move": "finger slides to \(position)"
        case "hold": "finger holds at \(position)"
        case "end": "finger lifted at \(position)"
        default: nil
        }
    }

    private static func touchMode(_ document: JSONValue) -> String? {
        switch document.word {
        case "gesture": "reports gestures"
        case "continuous": "streams touches; gestures pause"
        case "slide": "reports slides; gestures pause"
        case let word: word.map { "touch mode is \($0)" }
        }
    }

    private static func motion(_ document: JSONValue) -> String {
        if let error = document["error"]?.word { return "motion sensor: the download failed: \(error)" }
        if let download = document["download"], let of = download["of"]?.integer, of > 0 {
            let percent = (download["bytes"]?.integer ?? 0) * 100 / of
            return "motion sensor: transfers the session \(download["session"]?.word ?? ""), \(percent) %"
        }
        let mode = ["store": "records", "stream": "streams"][document["mode"]?.word ?? ""]
        let state = document["state"]?.word?.asWords ?? "module is \(document["module"]?.word ?? "unknown")"
        return "motion sensor: " + (mode.map { "\($0), " } ?? "") + state
    }

    private static func modules(_ document: JSONValue) -> String {
        let modules = (document.elements ?? []).map { module in
            (module["name"]?.word ?? "a module") + (module["enabled"]?.flag == true ? ", active" : "")
        }
        return modules.isEmpty ? "has no modules" : "has the modules \(modules.joined(separator: "; "))"
    }

    private static func info(_ document: JSONValue) -> String? {
        let words = ["name", "firmware", "address"].compactMap { key in document[key]?.word.map { "\(key) \($0)" } }
        return words.isEmpty ? nil : "has \(words.joined(separator: ", "))"
    }

    private static func health(_ document: JSONValue) -> String {
        let problems = (document["problems"]?.elements ?? []).compactMap { $0["text"]?.word }
        return (["health is \(document["status"]?.word ?? "unknown")"] + problems).joined(separator: "; ")
    }

    private static func adapters(_ document: JSONValue) -> String {
        let adapters = (document.elements ?? []).map { adapter in
            "\((adapter["radio"] ?? adapter["id"])?.word ?? "adapter") is \((adapter["state"]?.word ?? "unknown").asWords)"
        }
        return adapters.isEmpty ? "there is no Bluetooth adapter" : adapters.joined(separator: ", ")
    }

    private static func radios(_ document: JSONValue) -> String {
        let radios = (document.elements ?? []).map { radio in
            let strength = radio["rssi"]?.word.map { " at \($0) dBm" } ?? ""
            let bond = radio["bonded"]?.flag == true ? "" : " without a bond"
            return "\(radio["radio"]?.word ?? "radio")\(strength)\(bond)"
        }
        return radios.isEmpty ? "no radio has received it" : "received by \(radios.joined(separator: ", "))"
    }

    private static func event(_ document: JSONValue) -> String {
        guard case .object(let keys) = document else { return "event: \(document.text)" }
        let rest = keys.filter { !["type", "time", "bridge"].contains($0.key) }.sorted { $0.key < $1.key }
        let words = rest.compactMap { key, value in value.word.map { key == "text" ? $0 : "\(key) \($0)" } }
        return ([document["type"]?.word?.asWords ?? "event"] + words).joined(separator: ", ")
    }

    private static func advertisement(_ document: JSONValue) -> String {
        let words = ["serial", "name", "address"].compactMap { document[$0]?.word }.joined(separator: " ")
        return "receives the tag \(words)" + (document["rssi"]?.word.map { ", \($0) dBm" } ?? "")
            + (document["known"]?.flag == true ? ", known" : "")
    }

    private static func tags(_ document: JSONValue) -> String? {
        guard let connected = document["connected"]?.word, let known = document["known"]?.word else { return nil }
        return "\(connected) of \(known) tags are connected"
    }
}
