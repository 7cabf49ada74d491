/// A metric with all its samples, in the words of Prometheus.
///
/// Source: prometheus.io, "Exposition formats", text format 0.0.4.
struct MetricFamily: Hashable, Sendable {
    /// How the value moves.
    enum Kind: String, Sendable {
        /// Up and down.
        case gauge
        /// Up only, and to 0 at a restart.
        case counter
    }

    /// One value.
    struct Sample: Hashable, Sendable {
        /// Names and values, in the order in which they are written.
        let labels: [Label]
        let value: Int64
    }

    /// What tells one sample of a family from another.
    struct Label: Hashable, Sendable {
        let name: String
        let value: String
    }

    /// Without the prefix that all have.
    let name: String
    let help: String
    let kind: Kind
    let samples: [Sample]

    /// One metric without labels.
    static func one(_ name: String, _ kind: Kind, _ value: Int64, _ help: String) -> MetricFamily {
        MetricFamily(name: name, help: help, kind: kind, samples: [Sample(labels: [], value: value)])
    }

    /// The lines of the family; none without samples.
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

    /// By scalars: a quote with an accent is one character, and still a quote.
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
