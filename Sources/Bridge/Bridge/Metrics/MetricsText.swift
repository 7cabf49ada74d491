/// The metrics of a bridge, joined from the parts that `request/metrics` returns.
///
/// A part is a text of Prometheus, in which each family begins with `# HELP` and `# TYPE`. Lines in front of the first
/// family are ignored.
public struct MetricsText: Equatable, Sendable {
    /// A format of the text.
    public enum Format: Hashable, Sendable {
        /// Prometheus, text format 0.0.4.
        case prometheus
        /// OpenMetrics 1.0.0. Source: RFC draft-richih-opsawg-openmetrics-00.
        case openMetrics
    }

    fileprivate struct Family: Hashable, Sendable {
        let name: String
        var help: String
        var type = ""
        var samples: [Substring] = []
    }

    private var families: [Family] = []
    private var places: [String: Int] = [:]

    /// Creates a text without metrics.
    public init() {}

    /// Appends a part: its samples follow those of the same families in the parts before.
    public mutating func append(_ part: String) {
        var place: Int?
        for line in part.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init) {
            if let (name, help) = Self.metadata("# HELP ", line) {
                place = self.place(of: name, help)
            } else if let (_, type) = Self.metadata("# TYPE ", line) {
                if let place { families[place].type = type }
            } else if let place, line.utf8.first != UInt8(ascii: "#") {
                families[place].samples.append(line)
            }
        }
    }

    private mutating func place(of name: String, _ help: String) -> Int {
        if let place = places[name] { return place }
        places[name] = families.count
        families.append(Family(name: name, help: help))
        return families.count - 1
    }

    /// Returns the name of the family and the rest of a line of metadata; nil for another line.
    private static func metadata(_ prefix: String, _ line: Substring) -> (name: String, rest: String)? {
        guard line.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = line.utf8.dropFirst(prefix.utf8.count)
        let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.endIndex
        return (String(Substring(rest[..<end])), String(Substring(rest[end...].dropFirst())))
    }

    /// Returns the text with a final newline.
    public func text(_ format: Format) -> String {
        var text = ""
        for family in families {
            switch format {
            case .prometheus: text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.type)\n"
            case .openMetrics: text += family.openMetricsMetadata
            }
            for sample in family.samples { text += "\(sample)\n" }
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }
}

extension MetricsText.Family {
    /// The units of the bridge's metrics, with which their names end.
    private static let units = ["seconds", "bytes", "percent", "dbm"]

    /// Without the suffix of the samples: `_total` of a counter and `_info` of an information.
    fileprivate var openMetricsMetadata: String {
        let (name, type): (String, String) =
            if type == "counter", self.name.hasSuffix("_total") {
                (String(self.name.dropLast("_total".count)), type)
            } else if self.name.hasSuffix("_info") {
                (String(self.name.dropLast("_info".count)), "info")
            } else {
                (self.name, type)
            }
        let unit = Self.units.first { name.hasSuffix("_" + $0) }.map { "# UNIT \(name) \($0)\n" } ?? ""
        return "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n\(unit)"
    }
}

extension MetricsText.Format {
    /// The value of `Content-Type`.
    public var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}
