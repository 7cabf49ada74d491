import Foundation
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("Metrics")
struct MetricsTests {
    private static let measurement = HealthMeasurement(
        residentKilobytes: 9_120, queued: 3, dropped: 2, acknowledged: 7, isBrokerConnected: false, brokerReconnects: 4)

    private func lines(_ scene: Scene) -> [String] {
        scene.state.metrics(Self.measurement, at: scene.now).split(separator: "\n").map(String.init)
    }

    @Test("report the process and the broker")
    func process() {
        let lines = lines(Scene())
        #expect(lines.contains(#"jacquard_bridge_info{instance_name="attic",version="0.1.0",bluez=""} 1"#))
        #expect(lines.contains("jacquard_bridge_start_time_seconds 1795169702"))
        #expect(lines.contains("jacquard_bridge_resident_bytes 9338880"))
        #expect(lines.contains("jacquard_bridge_broker_connected 0"))
        #expect(lines.contains("jacquard_bridge_broker_reconnects_total 4"))
        #expect(lines.contains("jacquard_bridge_queued_messages 3"))
        #expect(lines.contains("jacquard_bridge_dropped_messages_total 2"))
        #expect(lines.contains(#"jacquard_bridge_health{status="ok"} 1"#))
    }

    @Test("report each tag, without samples for unknown values")
    func tags() {
        let scene = Scene()
        #expect(lines(scene).contains(#"jacquard_tag_connected{tag="003R"} 0"#))
        #expect(!lines(scene).contains { $0.hasPrefix("jacquard_tag_battery") })
        scene.connect()
        scene.report(.battery(BatteryStatus(level: 87, isCharging: true)))
        scene.report(.gesture(.doubleTap))
        scene.report(.gesture(.doubleTap))
        let lines = lines(scene)
        #expect(lines.contains(#"jacquard_tag_connected{tag="003R"} 1"#))
        #expect(lines.contains(#"jacquard_tag_battery_percent{tag="003R"} 87"#))
        #expect(lines.contains(#"jacquard_tag_charging{tag="003R"} 1"#))
        #expect(lines.contains(#"jacquard_tag_gestures_total{tag="003R",gesture="double_tap"} 2"#))
    }

    @Test("count chords by name, and commands of reflexes by status, also without a broker")
    func reactions() throws {
        #expect(!lines(Scene()).contains { $0.contains("chords") || $0.contains("reflexes") })
        let chord = Chord(name: "tap_in", of: [.doubleTap, .brushIn], within: .seconds(1))
        let reflex = Reflex(on: .event("tap_in"), request: try ReflexRequest("led flash"), cooldown: .zero)
        let scene = Scene(chords: [chord], reflexes: [reflex])
        #expect(lines(scene).contains(#"jacquard_bridge_reflexes_total{status="ok"} 0"#))
        scene.connect()
        for round in 0..<4 {
            scene.report(.gesture(.doubleTap))
            scene.report(.gesture(.brushIn))
            if round == 0 { scene.answer() }
            if round == 1 || round == 2 { scene.fail(.timeout) }
        }
        let lines = lines(scene)
        #expect(lines.contains(#"jacquard_tag_chords_total{tag="003R",chord="tap_in"} 4"#))
        #expect(lines.contains(#"jacquard_bridge_reflexes_total{status="ok"} 1"#))
        #expect(lines.contains(#"jacquard_bridge_reflexes_total{status="error"} 2"#))
    }

    @Test("report each problem by its code")
    func problems() {
        let scene = Scene()
        scene.handle(.adapters([]))
        let lines = lines(scene)
        #expect(lines.contains(#"jacquard_bridge_health{status="failed"} 1"#))
        #expect(lines.contains(#"jacquard_bridge_problems{code="no_adapter"} 1"#))
    }

    /// A bridge with a sample of every metric.
    private static func complete() throws -> Scene {
        let chord = Chord(name: "tap_in", of: [.doubleTap, .brushIn], within: .seconds(1))
        let reflex = Reflex(on: .event("tap_in"), request: try ReflexRequest("led flash"))
        let scene = Scene(chords: [chord], reflexes: [reflex])
        scene.connect()
        scene.report(.battery(BatteryStatus(level: 87, isCharging: true)))
        scene.report(.gesture(.doubleTap))
        scene.report(.gesture(.brushIn))
        let adapter = AdapterFacts(id: "hci0", address: nil, state: .poweredOff)
        scene.handle(.adapters([adapter]))
        scene.handle(.sighting(.tag003R, TagSighting(rssi: -60)))
        return scene
    }

    @Test("are in the format of Prometheus: each family once, after its help and type")
    func format() throws {
        let scene = try Self.complete()
        var families: Set<String> = []
        var current = ""
        for line in lines(scene) {
            if let match = line.wholeMatch(of: #/# HELP (\w+) .+/#) {
                current = String(match.1)
                #expect(families.insert(current).inserted)
            } else if let match = line.wholeMatch(of: #/# TYPE (\w+) (gauge|counter|histogram)/#) {
                #expect(String(match.1) == current)
                #expect(current.hasSuffix("_total") == (match.2 == "counter"), "\(current)")
            } else {
                let match = try #require(
                    line.wholeMatch(of: #/(\w+)(\{\w+="[^"]*"(,\w+="[^"]*")*\})? -?\d+(\.\d+)?/#), "\(line)")
                #expect(String(match.1).withoutHistogramSuffix == current)
            }
        }
        #expect(families.count > 12)
    }

    @Test(
        "are all listed in the dashboard and the article",
        arguments: ["deploy/grafana-dashboard.json", "Sources/Programs/Daemon/Documentation.docc/Operations.md"])
    func documents(document: String) throws {
        let path = URL(filePath: "../../../" + document, relativeTo: URL(filePath: #filePath))
        let text = try String(contentsOf: path, encoding: .utf8)
        let named = Set(
            text.matches(of: #/jacquard_(?:bridge|adapter|tag)_\w+/#).map { String($0.0).withoutHistogramSuffix })
        let scene = try Self.complete()
        let written = Set(
            lines(scene).compactMap { $0.firstMatch(of: #/^jacquard_\w+/#).map { String($0.0).withoutHistogramSuffix } }
        )
        #expect(named.subtracting(written).isEmpty)
        if document.hasSuffix(".md") { #expect(written.subtracting(named).isEmpty, "not explained") }
    }

    @Test(
        "escape any label value",
        arguments: [
            ("b\"c\\d\ne", #"b\"c\\d\ne"#),
            // One character for a reader, two for Prometheus: a quote and an accent.
            ("b\"\u{301}c\\\u{301}", "b\\\"\u{301}c\\\\\u{301}"), ("\r\n", "\r\\n"),
        ])
    func escaping(value: String, written: String) {
        let family = MetricFamily(
            name: "x", help: "h", kind: .gauge, samples: [.init(labels: [.init(name: "a", value: value)], value: -1)])
        var text = ""
        family.write(to: &text)
        let line = text.split(separator: "\n").last ?? ""
        #expect(line.unicodeScalars.elementsEqual("jacquard_x{a=\"\(written)\"} -1".unicodeScalars), "\(line)")
    }

    @Test("give each family its type")
    func types() {
        let scene = Scene()
        scene.handle(.adapters([]))
        #expect(lines(scene).contains("# TYPE jacquard_bridge_problems gauge"))
        scene.handle(.adapters([AdapterFacts(id: "hci0", address: nil, state: .poweredOn)]))
        #expect(lines(scene).contains("# TYPE jacquard_adapter_powered gauge"))
        // Two hosts may have an adapter of the same name.
        scene.handle(
            .adapters(
                ["hall", "loft"].map { AdapterFacts(id: "hci0", address: nil, state: .poweredOn, radio: $0) }))
        #expect(
            lines(scene).filter { $0.hasPrefix("jacquard_adapter_powered{") }.map { $0.contains("hci0") } == [
                false, false,
            ])
    }
}

extension String {
    /// The name of the family of a sample.
    fileprivate var withoutHistogramSuffix: String {
        String(["_bucket", "_sum", "_count"].first(where: hasSuffix).map { dropLast($0.count) } ?? self[...])
    }
}
