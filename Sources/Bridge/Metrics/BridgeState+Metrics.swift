import JacquardProtocol

// MARK: Metrics

extension BridgeState {
    /// Returns all metrics in the text format of Prometheus. The Operations article explains each of them.
    ///
    /// - Parameters:
    ///   - measurement: the measurements of the process.
    ///   - now: the current time.
    /// - Returns: UTF-8 text that ends with a newline.
    public func metrics(_ measurement: HealthMeasurement, at now: Moment) -> String {
        (bridgeMetrics(measurement, at: now) + tagMetrics(at: now)).map(\.text).joined()
    }

    private func bridgeMetrics(_ measurement: HealthMeasurement, at now: Moment) -> [MetricFamily] {
        let document = healthDocument(at: now)
        let identity = [
            MetricFamily.Label(name: "instance_name", value: configuration.instance),
            MetricFamily.Label(name: "version", value: configuration.version),
            MetricFamily.Label(name: "bluez", value: stack.bluezVersion ?? ""),
        ]
        return [
            MetricFamily(
                name: "bridge_info", help: "What runs; always 1.", kind: .gauge,
                samples: [.init(labels: identity, value: 1)]),
            .one(
                "bridge_start_time_seconds", .gauge, startedAt.unixMilliseconds / 1000,
                "When the bridge was started, in seconds since 1970."),
            .one("bridge_resident_bytes", .gauge, Int64(measurement.residentKilobytes) * 1024, "Memory in use."),
            .one(
                "bridge_broker_connected", .gauge, measurement.isBrokerConnected ? 1 : 0,
                "Whether the broker is connected."),
            .one(
                "bridge_broker_reconnects_total", .counter, Int64(measurement.brokerReconnects),
                "How often the connection to the broker was made again."),
            .one(
                "bridge_queued_messages", .gauge, Int64(measurement.queued),
                "Messages that wait for the broker or its acknowledgement."),
            .one(
                "bridge_dropped_messages_total", .counter, Int64(measurement.dropped),
                "Messages that were given up because the broker was away."),
            MetricFamily(
                name: "bridge_health", help: "1 for the present status, as in the health topic.", kind: .gauge,
                samples: ["ok", "degraded", "failed"].map {
                    .init(labels: [.init(name: "status", value: $0)], value: document.status == $0 ? 1 : 0)
                }),
            MetricFamily(
                name: "bridge_problems", help: "Problems of the health topic, by code.", kind: .gauge,
                samples: Dictionary(grouping: document.problems, by: \.code).sorted { $0.key < $1.key }
                    .map { .init(labels: [.init(name: "code", value: $0)], value: Int64($1.count)) }),
            MetricFamily(
                name: "adapter_powered", help: "Whether a Bluetooth adapter is ready.", kind: .gauge,
                samples: (adapters ?? []).map {
                    .init(labels: [.init(name: "adapter", value: $0.id)], value: $0.state == .poweredOn ? 1 : 0)
                }),
        ]
    }

    private func tagMetrics(at now: Moment) -> [MetricFamily] {
        func family(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (TagMirror) -> Int64?
        ) -> MetricFamily {
            MetricFamily(
                name: "tag_" + name, help: help, kind: kind,
                samples: tags.compactMap { tag in value(tag).map { .init(labels: [tag.label], value: $0) } })
        }
        return [
            family("connected", .gauge, "Whether the tag is connected.") { $0.isConnected ? 1 : 0 },
            family("wanted", .gauge, "Whether the tag is to be connected.") { $0.intent.isWanted ? 1 : 0 },
            family("battery_percent", .gauge, "The battery's level when the tag told it last.") {
                $0.battery.map { Int64($0.value.level) }
            },
            family("charging", .gauge, "Whether the tag charged when it told it last.") {
                $0.battery.map { $0.value.isCharging ? 1 : 0 }
            },
            family("rssi_dbm", .gauge, "The signal of the last advertisement.") { $0.sighting.rssi.map { Int64($0) } },
            family("reconnects_total", .counter, "How often the tag came back.") {
                Int64(clamping: $0.counters.reconnects)
            },
            family("lost_fragments_total", .counter, "Packets lost because a fragment was missing.") {
                Int64(clamping: $0.counters.lostFragments)
            },
            family("expired_gestures_total", .counter, "Gestures that grew too old for the broker.") {
                Int64(clamping: $0.counters.expired)
            },
            MetricFamily(
                name: "tag_gestures_total", help: "Gestures, by name.", kind: .counter,
                samples: tags.flatMap { tag in
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
