import JacquardProtocol

/// All metrics of the bridge. The Operations article explains each of them.
struct BridgeMetrics {
    let bridge: BridgeState
    /// The measurements of the process.
    let measurement: HealthMeasurement
    let now: Timestamp

    /// UTF-8 text in the format of Prometheus, with a final newline.
    var text: String { (bridgeFamilies + tagFamilies).map(\.text).joined() }

    private var bridgeFamilies: [MetricFamily] {
        let document = bridge.healthDocument(at: now)
        let identity = [
            MetricFamily.Label(name: "instance_name", value: bridge.configuration.instance),
            MetricFamily.Label(name: "version", value: bridge.configuration.version),
            MetricFamily.Label(name: "bluez", value: bridge.stack.bluezVersion ?? ""),
        ]
        return [
            MetricFamily(
                name: "bridge_info", help: "Name and version of the bridge; always 1.", kind: .gauge,
                samples: [.init(labels: identity, value: 1)]),
            .one(
                "bridge_start_time_seconds", .gauge, bridge.startedAt.unixMilliseconds / 1000,
                "Start time in seconds since 1970."),
            .one("bridge_resident_bytes", .gauge, Int64(measurement.residentKilobytes) * 1024, "Resident memory."),
            .one(
                "bridge_broker_connected", .gauge, measurement.isBrokerConnected ? 1 : 0,
                "Whether the broker is connected."),
            .one(
                "bridge_broker_reconnects_total", .counter, Int64(measurement.brokerReconnects),
                "Number of reconnects to the broker."),
            .one(
                "bridge_queued_messages", .gauge, Int64(measurement.queued),
                "Messages that are queued or not acknowledged by the broker."),
            .one(
                "bridge_dropped_messages_total", .counter, Int64(measurement.dropped),
                "Messages dropped since the start."),
            MetricFamily(
                name: "bridge_health", help: "1 for the current status, as in the health topic.", kind: .gauge,
                samples: ["ok", "degraded", "failed"].map {
                    .init(labels: [.init(name: "status", value: $0)], value: document.status == $0 ? 1 : 0)
                }),
            MetricFamily(
                name: "bridge_problems", help: "Problems of the health topic, by code.", kind: .gauge,
                samples: Dictionary(grouping: document.problems, by: \.code).sorted { $0.key < $1.key }
                    .map { .init(labels: [.init(name: "code", value: $0)], value: Int64($1.count)) }),
            MetricFamily(
                name: "adapter_powered", help: "Whether a Bluetooth adapter is ready.", kind: .gauge,
                samples: (bridge.stack.adapters ?? []).map {
                    .init(labels: [.init(name: "adapter", value: $0.id)], value: $0.state == .poweredOn ? 1 : 0)
                }),
        ]
    }

    private var tagFamilies: [MetricFamily] {
        func family(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (TagMirror) -> Int64?
        ) -> MetricFamily {
            MetricFamily(
                name: "tag_" + name, help: help, kind: kind,
                samples: bridge.tags.compactMap { tag in value(tag).map { .init(labels: [tag.label], value: $0) } })
        }
        return [
            family("connected", .gauge, "Whether the tag is connected.") { $0.isConnected ? 1 : 0 },
            family("wanted", .gauge, "Whether the tag should be connected.") { $0.link.intent.isWanted ? 1 : 0 },
            family("battery_percent", .gauge, "Last reported battery level.") {
                $0.battery.map { Int64($0.value.level) }
            },
            family("charging", .gauge, "Whether the tag was charging at its last report.") {
                $0.battery.map { $0.value.isCharging ? 1 : 0 }
            },
            family("rssi_dbm", .gauge, "Signal strength of the last advertisement.") {
                $0.sighting.rssi.map { Int64($0) }
            },
            family("reconnects_total", .counter, "Number of reconnects.") {
                Int64(clamping: $0.counters.reconnects)
            },
            family("lost_fragments_total", .counter, "Packets lost because a fragment was missing.") {
                Int64(clamping: $0.counters.lostFragments)
            },
            family("expired_gestures_total", .counter, "Gestures that expired while the broker was disconnected.") {
                Int64(clamping: $0.counters.expired)
            },
            MetricFamily(
                name: "tag_gestures_total", help: "Gestures, by name.", kind: .counter,
                samples: bridge.tags.flatMap { tag in
                    tag.counters.gestures.made.map { name in
                        .init(
                            labels: [tag.label, .init(name: "gesture", value: name.rawValue)],
                            value: Int64(clamping: tag.counters.gestures[name]))
                    }
                }),
        ]
    }
}

extension TagMirror {
    fileprivate var label: MetricFamily.Label { .init(name: "tag", value: entry.id.text) }
}

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
