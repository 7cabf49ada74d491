import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("A low battery")
struct BatteryLowTests {
    private static let topic = "jacquard/tag/003R/battery"

    /// The key `low` of the latest `T/battery`.
    private func isLow(_ scene: Scene) -> JSONValue? {
        scene.publications.last { $0.topic == Self.topic }.flatMap { JSONValue(parsing: $0.payload)?["low"] }
    }

    private func report(_ level: UInt32, _ scene: Scene) {
        scene.report(.battery(BatteryStatus(level: level, isCharging: false)))
    }

    @Test("is below 20 percent, and stays low until it has 25 percent")
    func hysteresis() {
        let scene = Scene.connected()
        scene.handle(.started)
        #expect(isLow(scene) == .null)
        for (level, low) in [(25, false), (20, false), (19, true), (20, true), (24, true), (25, false), (24, false)] {
            report(UInt32(level), scene)
            #expect(isLow(scene) == .bool(low), "\(level)")
        }
    }

    @Test("is not one of which nothing is known that begins below 25 percent")
    func beginning() {
        let scene = Scene.connected()
        report(22, scene)
        #expect(isLow(scene) == .bool(false))
    }

    @Test("stays low over a restart until it has 25 percent", arguments: [true, false])
    func restart(wasLow: Bool) throws {
        let scene = Scene.connected()
        report(wasLow ? 19 : 22, scene)
        scene.wait(.seconds(90))
        report(21, scene)
        scene.wait(.seconds(90))
        scene.handle(.stopping)
        let records = scene.takeActions().compactMap { if case .remember(let record) = $0 { record } else { nil } }
        let later = Scene(records: [try #require(records.last)])
        later.handle(.started)
        #expect(isLow(later) == .bool(wasLow))
        later.connect()
        report(24, later)
        #expect(isLow(later) == .bool(wasLow))
        report(25, later)
        #expect(isLow(later) == .bool(false))
    }

    @Test("is a diagnostic of Home Assistant that keeps its value while the tag is away")
    func entity() {
        let item = Scene.announced().components()["battery_low"]
        #expect(item?["platform"]?.text == "binary_sensor")
        #expect(item?["device_class"]?.text == "battery")
        #expect(item?["unique_id"]?.text == "jacquard_tag_003R_battery_low")
        #expect(item?["state_topic"]?.text == Self.topic)
        #expect(item?["availability"]?.list.count == 1)
    }
}
