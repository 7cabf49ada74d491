import JSON
import Text

/// The topics of a bridge, except its requests and their responses.
public enum BridgeTopic {
    /// All rows, in the order in which their messages are cleared: the state is the last one.
    public static let table = [
        info, health, adapter, scan, tags, pairing, found, state, advertisement, event, log, beat, gatt,
    ]

    static let state = TopicRow("state", .fact) { $0.word.map { "is \($0)" } }

    static let info = TopicRow("info", .fact) { $0["version"]?.word.map { "runs version \($0)" } }

    static let health = TopicRow("health", .fact) { document in
        let problems = (document["problems"]?.elements ?? []).compactMap { $0["text"]?.word }
        return (["health is \(document["status"]?.word ?? "unknown")"] + problems).joined(separator: "; ")
    }

    static let adapter = TopicRow("adapter", .fact) { document in
        let adapters = (document.elements ?? []).map { adapter in
            let name = (adapter["radio"] ?? adapter["id"])?.word ?? "adapter"
            return "\(name) is \((adapter["state"]?.word ?? "unknown").asWords)"
        }
        return adapters.isEmpty ? "there is no Bluetooth adapter" : adapters.joined(separator: ", ")
    }

    static let scan = TopicRow("scan", .fact) { document in
        document["scanning"]?.flag == true ? "scans for tags" : "does not scan"
    }

    static let tags = TopicRow("tags", .fact) { document in
        guard let connected = document["connected"]?.integer, let known = document["known"]?.integer else { return nil }
        return countedAre(Int(clamping: connected), of: Int(clamping: known), "tag") + " connected"
    }

    /// Its messages repeat events.
    static let pairing = TopicRow("pairing", .fact, while: .feature)

    /// Its messages repeat advertisements.
    static let found = TopicRow("found", .fact, while: .feature, isOnPage: false)

    static let advertisement = TopicRow("advertisement", .stream) { document in
        let words = ["serial", "name", "address"].compactMap { document[$0]?.word }.joined(separator: " ")
        return "receives the tag \(words)" + (document["rssi"]?.word.map { ", \($0) dBm" } ?? "")
            + (document["known"]?.flag == true ? ", known" : "")
    }

    static let event = TopicRow("event", .event) { document in
        guard case .object(let keys) = document else { return "event: \(document.text)" }
        let rest = keys.filter { !["type", "time", "bridge"].contains($0.key) }.sorted { $0.key < $1.key }
        let words = rest.compactMap { key, value in value.word.map { key == "text" ? $0 : "\(key) \($0)" } }
        return ([document["type"]?.word?.asWords ?? "event"] + words).joined(separator: ", ")
    }

    static let log = stream("log")

    static let beat = stream("beat", isOnPage: false)

    static let gatt = stream("gatt", isOnPage: false)

    /// A stream whose messages `monitor` shows as they are.
    private static func stream(_ name: String, isOnPage: Bool = true) -> TopicRow {
        TopicRow(name, .stream, isOnPage: isOnPage) { "\(name): \($0.word ?? $0.text)" }
    }
}
