/// A metric with all its samples.
///
/// Source: prometheus.io, "Exposition formats", text format 0.0.4.
struct MetricFamily: Hashable, Sendable {
    /// The type of the metric.
    enum Kind: String, Sendable {
        /// Increases and decreases.
        case gauge
        /// Only increases; starts at 0.
        case counter
    }

    /// One value.
    struct Sample: Hashable, Sendable {
        /// Names and values, in output order.
        let labels: [Label]
        let value: Int64
    }

    /// Distinguishes the samples of a family.
    struct Label: Hashable, Sendable {
        let name: String
        let value: String
    }

    /// Without the common prefix.
    let name: String
    let help: String
    let kind: Kind
    let samples: [Sample]

    /// Returns a family with one sample and no labels.
    static func one(_ name: String, _ kind: Kind, _ value: Int64, _ help: String) -> MetricFamily {
        MetricFamily(name: name, help: help, kind: kind, samples: [Sample(labels: [], value: value)])
    }

    /// The lines of the family; empty without samples.
    var text: String {
        guard !samples.isEmpty else { return "" }
        let full = "jacquard_" + name
        return samples.reduce("# HELP \(full) \(help)\n# TYPE \(full) \(kind.rawValue)\n") { text, sample in
            text + "\(full)\(Self.braced(sample.labels)) \(sample.value)\n"
        }
    }

    private static func braced(_ labels: [Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
    }

    /// Works on Unicode scalars: a quotation mark with a combining accent is one `Character`, but must be escaped.
    private static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
