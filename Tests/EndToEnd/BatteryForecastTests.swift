import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Battery forecast")
struct BatteryForecastTests {
    private static let topic = "jacquard/tag/0001/battery/forecast"
    private static let unknown = #"{"basis":null,"earliest":null,"empty":null,"latest":null}"#

    /// A discharge of 5 % every six hours, until 65 % six hours ago.
    private static var history: String {
        let now = Int(Date().timeIntervalSince1970)
        let points = (0...5).map { "\(now - (6 - $0) * 21_600),\(90 - 5 * $0),0" }
        return #"{"batteries":[{"discharges":[4000,0],"id":"0001","points":[\#(points.joined(separator: ","))],"#
            + #""serial":"0001"}],"version":1}"#
    }

    @Test("comes from earlier runs, survives a restart, and goes with the tag")
    func life() async throws {
        try await inWorld { world in
            try await world.connected()
            #expect(world.observer.latest(Self.topic) == Self.unknown)
            try await world.stopDaemon()
            _ = try world.folder.write("batteries.json", Self.history)
            try await world.simulate("battery 0001 60")
            try world.restartDaemon()
            try await until("a forecast") { world.observer.document(Self.topic)["empty"] is String }
            let document = world.observer.document(Self.topic)
            let times = try ["earliest", "empty", "latest"].map { key in
                try #require((document[key] as? String).flatMap { try? Date($0, strategy: Self.format) })
            }
            #expect(times == times.sorted())
            // 60 % at 72 minutes each.
            #expect((71.0...75).contains(times[1].timeIntervalSinceNow / 3_600))
            #expect(document["basis"] as? String == "1.5 days, 7 points")
            try await world.stopAndStartDaemon()
            // Its times are whole hours, and may be others by now.
            try await until("the forecast from as many data after a restart") {
                world.observer.document(Self.topic)["basis"] as? String == "1.5 days, 7 points"
            }
            try await world.simulate("battery 0001 60 charging")
            try await until("none while it is charged") { world.observer.latest(Self.topic) == Self.unknown }
            try await world.succeeds(World.bridge + "/request/forget", #"{"id":"0001"}"#)
            try await until("the topic is cleared") { world.observer.latest(Self.topic) == "" }
            let file = world.folder.path + "/batteries.json"
            try await until("the tag is not in the file") {
                try !String(contentsOfFile: file, encoding: .utf8).contains("0001")
            }
        }
    }

    @Test("a damaged file is set aside, and the bridge goes on")
    func damaged() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.stopDaemon()
            _ = try world.folder.write("batteries.json", #"{"version":1,"batteries":[7"#)
            try world.restartDaemon()
            try await world.connected()
            #expect(world.observer.latest(Self.topic) == Self.unknown)
            let kept = world.folder.path + "/batteries.json.damaged"
            #expect(try String(contentsOfFile: kept, encoding: .utf8) == #"{"version":1,"batteries":[7"#)
        }
    }

    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
