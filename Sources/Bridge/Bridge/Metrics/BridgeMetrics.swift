import JacquardProtocol

/// All metrics of the bridge. The Operations article explains each of them.
struct BridgeMetrics {
    private let tags: [TagMirror]
    /// The metrics of the bridge itself.
    private let bridgeFamilies: [MetricFamily]

    /// Upper bound of the text of a part in bytes. A part with one tag may be larger by the metrics of the bridge.
    static let partBytes = 64 << 10
    /// Maximum number of tags of a part.
    private static let partTags = 128

    /// - Parameters:
    ///   - bridge: the bridge.
    ///   - measurement: the measurements of the process.
    ///   - now: the current time.
    init(of bridge: borrowing BridgeState, _ measurement: HealthMeasurement, at now: Timestamp) {
        tags = Array(bridge.tags)
        bridgeFamilies = Self.families(of: bridge, measurement, at: now)
    }

    /// UTF-8 text in the format of Prometheus, with a final newline.
    var text: String { text(of: bridgeFamilies + families(of: tags)) }

    /// Returns a part of the text: the metrics of the next tags in the order of their ids, in the first part after those
    /// of the bridge.
    ///
    /// Each part is a text of its own, and together they have each tag once, also if tags are added or removed meanwhile.
    /// ``MetricsText`` joins them.
    ///
    /// - Parameter id: the last tag of the part before; nil: the first part.
    /// - Returns: the part, and its last tag if there are more.
    func part(after id: String?) -> (text: String, next: String?) {
        let tags = tags.filter { tag in id.map { tag.entry.id.text > $0 } ?? true }
            .sorted { $0.entry.id.text < $1.entry.id.text }
        let head = id == nil ? bridgeFamilies : []
        var count = min(tags.count, Self.partTags)
        while true {
            let part = text(of: head + families(of: Array(tags.prefix(count))))
            guard count > 1, part.utf8.count > Self.partBytes else {
                return (part, count < tags.count ? tags[count - 1].entry.id.text : nil)
            }
            count = min(count - 1, max(1, count * Self.partBytes / part.utf8.count))
        }
    }

    private func text(of families: [MetricFamily]) -> String {
        families.reduce(into: "") { $1.write(to: &$0) }
    }

    private static func families(
        of bridge: borrowing BridgeState, _ measurement: HealthMeasurement, at now: Timestamp
    ) -> [MetricFamily] {
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
                "bridge_start_time_seconds", .gauge, bridge.run.startedAt.unixMilliseconds / 1000,
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
                samples: Dictionary(grouping: document.problems.keys, by: \.key.code.rawValue).sorted {
                    $0.key < $1.key
                }
                .map { .init(labels: [.init(name: "code", value: $0)], value: Int64($1.count)) }),
            .durations(
                "bridge_gesture_seconds", "From the notification of a gesture to the broker's acknowledgement.",
                [([], measurement.gestureDurations)]),
            .durations(
                "bridge_command_seconds", "From the arrival of a command to a tag until its final result.",
                [
                    ([.init(name: "status", value: "ok")], bridge.pendingCommands.answerDurations),
                    ([.init(name: "status", value: "error")], bridge.pendingCommands.failureDurations),
                ]),
            .durations(
                "bridge_connect_seconds", "From the decision to connect a tag to its connection.",
                [([], bridge.diagnostics.connectDurations)]),
            MetricFamily(
                name: "bridge_reflexes_total", help: "Ended commands of reflexes, by status.", kind: .counter,
                samples: reflexes(of: bridge).map {
                    .init(labels: [.init(name: "status", value: $0)], value: Int64(clamping: $1))
                }),
            MetricFamily(
                name: "adapter_powered", help: "Whether a Bluetooth adapter is ready.", kind: .gauge,
                samples: (bridge.stack.adapters ?? []).map {
                    .init(labels: [.init(name: "adapter", value: $0.name)], value: $0.state == .poweredOn ? 1 : 0)
                }),
        ]
    }

    /// Empty without reflexes.
    private static func reflexes(of bridge: borrowing BridgeState) -> [(status: String, count: UInt64)] {
        let outcomes = bridge.pendingCommands.reflexOutcomes
        guard bridge.reactions.hasReflexes || outcomes != ReflexOutcomes() else { return [] }
        return [("error", outcomes.failed), ("ok", outcomes.succeeded)]
    }

    private func families(of tags: [TagMirror]) -> [MetricFamily] {
        func family(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (TagMirror) -> Int64?
        ) -> MetricFamily {
            MetricFamily(
                name: "tag_" + name, help: help, kind: kind,
                samples: tags.compactMap { tag in value(tag).map { .init(labels: [.init(tag)], value: $0) } })
        }
        return [
            family("connected", .gauge, "Whether the tag is connected.") { $0.isConnected ? 1 : 0 },
            family("wanted", .gauge, "Whether the tag should be connected.") { $0.link.intent.isWanted ? 1 : 0 },
            family("battery_percent", .gauge, "Last reported battery level.") {
                $0.battery.latest.map { Int64($0.value.level) }
            },
            family("charging", .gauge, "Whether the tag was charging at its last report.") {
                $0.battery.latest.map { $0.value.isCharging ? 1 : 0 }
            },
            family("rssi_dbm", .gauge, "Signal strength of the last advertisement.") {
                $0.sighting.rssi.map { Int64($0) }
            },
            family("reconnects_total", .counter, "Number of reconnects.") {
                Int64(clamping: $0.statistics.counters.reconnects)
            },
            family("lost_fragments_total", .counter, "Packets lost because a fragment was missing.") {
                Int64(clamping: $0.statistics.counters.lostFragments)
            },
            family("expired_gestures_total", .counter, "Gestures that expired while the broker was disconnected.") {
                Int64(clamping: $0.statistics.counters.expired)
            },
            MetricFamily(
                name: "tag_gestures_total", help: "Gestures, by name.", kind: .counter,
                samples: tags.flatMap { tag in
                    tag.statistics.counters.gestures.made.map { name in
                        .init(
                            labels: [.init(tag), .init(name: "gesture", value: name.rawValue)],
                            value: Int64(clamping: tag.statistics.counters.gestures[name]))
                    }
                }),
            MetricFamily(
                name: "tag_chords_total", help: "Chords, by name.", kind: .counter,
                samples: tags.flatMap { tag in
                    tag.statistics.counters.chords.sorted { $0.key < $1.key }.map { name, count in
                        .init(
                            labels: [.init(tag), .init(name: "chord", value: name)], value: Int64(clamping: count))
                    }
                }),
        ]
    }
}

extension MetricFamily.Label {
    fileprivate init(_ tag: TagMirror) { self.init(name: "tag", value: tag.entry.id.text) }
}

extension BridgeState {
    /// Returns all metrics in the text format of Prometheus. The Operations article explains each of them.
    ///
    /// - Parameters:
    ///   - measurement: the measurements of the process.
    ///   - now: the current time.
    /// - Returns: UTF-8 text that ends with a newline.
    public func metrics(_ measurement: HealthMeasurement, at now: Timestamp) -> String {
        BridgeMetrics(of: self, measurement, at: now).text
    }
}
