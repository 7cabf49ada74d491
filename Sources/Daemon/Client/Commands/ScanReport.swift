import JSON

/// The tags that a scan has heard, each with its latest signal.
///
/// For machines: `{"source","tags":[{"address","serial","name","rssi","known"}]}`; `source` is `bridge` or `adapter`.
struct ScanReport: Hashable, Sendable {
    /// Who has listened.
    enum Source: String, Sendable {
        case bridge, adapter
    }

    /// Who has listened.
    let source: Source
    private var tags: [String: JSONValue] = [:]

    /// Nothing heard yet.
    init(source: Source) {
        self.source = source
    }

    /// How many tags were heard.
    var count: Int { tags.count }

    /// Takes an advertisement, in the form of the bridge's; values that are missing in it stay as they were.
    ///
    /// - Returns: whether the tag is new.
    @discardableResult
    mutating func take(_ advertisement: JSONValue) -> Bool {
        guard let address = advertisement["address"]?.string, case .object(let heard) = advertisement else {
            return false
        }
        guard case .object(let before)? = tags[address] else {
            tags[address] = advertisement
            return true
        }
        tags[address] = .object(before.merging(heard) { $1 == .null ? $0 : $1 })
        return false
    }

    /// The tags, the nearest first.
    private var sorted: [JSONValue] {
        tags.values.sorted { left, right in
            let (near, far) = (left["rssi"]?.integer ?? .min, right["rssi"]?.integer ?? .min)
            return near == far ? (left["address"]?.string ?? "") < (right["address"]?.string ?? "") : near > far
        }
    }

    /// For machines.
    var document: JSONValue {
        ["source": .string(source.rawValue), "tags": .array(sorted)]
    }

    /// For people.
    var lines: [String] {
        guard !tags.isEmpty else { return ["No tag was heard. Move the tags, or put them on a charger, to wake them."] }
        var table = TextTable(titles: ["SERIAL", "NAME", "ADDRESS", "RSSI", "KNOWN"])
        table.rows = sorted.map { tag in
            ["serial", "name", "address", "rssi", "known"].map { tag[$0]?.word ?? "" }
        }
        return table.lines
    }
}
