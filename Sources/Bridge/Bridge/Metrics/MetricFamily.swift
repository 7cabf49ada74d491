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
        /// Numbers of values up to upper limits, with the sum and the number of all.
        case histogram
    }

    /// One value.
    struct Sample: Hashable, Sendable {
        /// Follows the name of the family: `_bucket`, `_sum` or `_count` of a histogram.
        let suffix: String
        /// Names and values, in output order.
        let labels: [Label]
        /// A number.
        let value: String

        init(labels: [Label], value: Int64) {
            self.init(suffix: "", labels: labels, value: String(value))
        }

        fileprivate init(suffix: String, labels: [Label], value: String) {
            self.suffix = suffix
            self.labels = labels
            self.value = value
        }
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

    /// Returns a family with histograms of durations in seconds.
    static func durations(
        _ name: String, _ help: String, _ histograms: [(labels: [Label], DurationHistogram)]
    ) -> MetricFamily {
        let samples = histograms.flatMap { labels, histogram in
            histogram.buckets.map { bucket in
                let limit = bucket.limitMicroseconds.map(seconds) ?? "+Inf"
                return Sample(
                    suffix: "_bucket", labels: labels + [Label(name: "le", value: limit)], value: "\(bucket.count)")
            } + [
                Sample(suffix: "_sum", labels: labels, value: seconds(histogram.sumMicroseconds)),
                Sample(suffix: "_count", labels: labels, value: "\(histogram.count)"),
            ]
        }
        return MetricFamily(name: name, help: help, kind: .histogram, samples: samples)
    }

    /// Returns microseconds as seconds, with at least one digit after the point: `0.00025`, `5.0`. OpenMetrics requires
    /// this form for the limits of buckets.
    private static func seconds(_ microseconds: Int64) -> String {
        let digits = String(microseconds % 1_000_000)
        var fraction = String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while fraction.utf8.count > 1, fraction.last == "0" { fraction.removeLast() }
        return "\(microseconds / 1_000_000).\(fraction)"
    }

    /// Appends the lines of the family; none without samples.
    func write(to text: inout String) {
        guard !samples.isEmpty else { return }
        let full = "jacquard_" + name
        text += "# HELP \(full) \(help)\n# TYPE \(full) \(kind.rawValue)\n"
        for sample in samples { text += "\(full)\(sample.suffix)\(Self.braced(sample.labels)) \(sample.value)\n" }
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
