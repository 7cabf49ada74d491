import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("request/battery_history")
struct BatteryHistoryRequestTests {
    private static let request = "bridge/attic/request/battery_history"

    private static func report(_ levels: [UInt32], to scene: Scene) {
        for level in levels {
            scene.report(.battery(BatteryStatus(level: level, isCharging: false)))
            scene.wait(.seconds(600))
        }
    }

    private static func points(_ lines: [String]) throws -> [JSONValue] {
        let result = try #require(lines.last?.split(separator: " ", maxSplits: 1).last)
        let data = try #require(JSONValue(parsing: Array(result.utf8))?["data"])
        #expect(data["tag"]?.string == "003R")
        return try #require(data["points"]?.elements)
    }

    @Test("answers with the changes of the level since the last charge", arguments: ["003R", #"{"tag":"003R"}"#])
    func points(payload: String) throws {
        let scene = Scene.connected()
        Self.report([50, 90, 88, 88, 86], to: scene)
        let points = try Self.points(scene.send(Self.request, payload))
        #expect(points.map { $0["level"]?.integer } == [90, 88, 86])
        #expect(points.map { $0["time"]?.string } == points.map { $0["time"]?.string }.sorted { $0 ?? "" < $1 ?? "" })
        #expect(points.first?["time"]?.string?.hasSuffix(":02.000Z") == true)
    }

    @Test("has no point of a tag whose level is unknown")
    func unknown() throws {
        #expect(try Self.points(Scene.connected().send(Self.request, "003R")).isEmpty)
    }

    @Test("has 200 points at most")
    func bounds() throws {
        let scene = Scene.connected()
        // One percent more is no charge.
        Self.report((0..<250).map { 60 + $0 % 2 }, to: scene)
        #expect(try Self.points(scene.send(Self.request, "003R")).count == BatteryHistory.maxPoints)
    }

    @Test(
        "refuses arguments that are not allowed",
        arguments: [
            ("", "invalid_argument"), ("{}", "invalid_argument"), (#"{"tag":7}"#, "invalid_argument"),
            ("9999", "unknown_tag"), ("{", "invalid_json"),
        ])
    func refused(payload: String, code: String) {
        let scene = Scene.connected()
        scene.send(Self.request, payload)
        #expect(scene.lastError?.code == code)
    }
}
