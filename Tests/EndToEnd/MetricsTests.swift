import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Metrics of a running bridge")
struct MetricsTests {
    private static func settings(_ file: String) -> String { "metrics:\n  file: \(file)\n  interval_s: 5" }

    @Test("are a world-readable file, replaced as a whole, and change with a reload")
    func file() async throws {
        let folder = try ScratchFolder()
        // As the unit runs it.
        let runner = ["/bin/sh", "-c", #"umask 077; exec "$@""#, "sh"]
        try await inWorld(WorldPlan(settings: Self.settings(folder.path + "/a.prom"), runner: runner)) { world in
            func value(_ file: String, _ metric: String) -> String? {
                let text = try? String(contentsOfFile: "\(folder.path)/\(file)", encoding: .utf8)
                return text?.split(separator: "\n").first { $0.hasPrefix(metric + " ") }
                    .map { String($0.dropFirst(metric.count + 1)) }
            }
            try await until("the first file") { value("a.prom", "jacquard_tag_connected{tag=\"0001\"}") != nil }
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/a.prom")[.posixPermissions]
            #expect(mode as? Int == 0o644)
            try await world.connected()
            // A reload writes immediately; the interval is too long to wait for.
            try await world.reload(WorldPlan(settings: Self.settings(folder.path + "/b.prom")))
            try await until("the other file") { value("b.prom", "jacquard_tag_connected{tag=\"0001\"}") == "1" }
            #expect(value("b.prom", "jacquard_tag_battery_percent{tag=\"0001\"}") == "87")
            #expect(value("b.prom", "jacquard_bridge_broker_connected") == "1")
            #expect(value("b.prom", #"jacquard_bridge_health{status="ok"}"#) == "1")
            try await world.stopBroker()
            try await until("that the broker is away", within: .seconds(30)) {
                value("b.prom", "jacquard_bridge_broker_connected") == "0"
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(files).subtracting(["b.prom.new"]) == ["a.prom", "b.prom"])
        }
    }

    @Test("are printed by the command, with the times of a gesture, a command and a connection")
    func command() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("gesture 0001 brush_in")
            try await until("the gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            let (status, printed) = try await world.run(Program.buildFolder + "/jacquard2mqtt", ["metrics"])
            #expect(status == 0)
            let lines = printed.split(separator: "\n")
            for name in [
                "gesture_seconds_count 1", #"command_seconds_count{status="ok"} 1"#, "connect_seconds_count 1",
            ] {
                #expect(lines.contains("jacquard_bridge_\(name)"), "\(printed)")
            }
            let sum = lines.first { $0.hasPrefix("jacquard_bridge_gesture_seconds_sum ") }?.split(separator: " ").last
            #expect((0.000_01...5).contains(sum.flatMap { Double($0) } ?? 0))
        }
    }

    @Test("that cannot be written cause one log line per file")
    func nowhere() async throws {
        try await inWorld(settings: Self.settings("/nonexistent/a.prom")) { world in
            try await world.connected()
            try await until("the line") { world.daemon.printed.contains("cannot write metrics") }
            try await world.reload(WorldPlan(settings: Self.settings("/nonexistent/b.prom")))
            try await until("a line of its own") { world.daemon.printed.contains("path=/nonexistent/b.prom") }
            try await until("that line") { world.daemon.printed.matches(of: /cannot write metrics/).count == 2 }
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
        }
    }

    @Test("log a changed file or interval, after which they are written at once, and their removal")
    func changes() async throws {
        let folder = try ScratchFolder()
        let file = folder.path + "/a.prom"
        let settings = Self.settings(file)
        try await inWorld { world in
            // Intervals that are too long to wait for.
            try await world.reload(WorldPlan(settings: settings + "00"))
            try await world.logs("metrics are written elsewhere path=\(file)")
            try await until("the file") { FileManager.default.fileExists(atPath: file) }
            try FileManager.default.removeItem(atPath: file)
            try await world.reload(WorldPlan(settings: settings + "0"))
            try await world.logs("metrics are written at another interval")
            try await until("the file again") { FileManager.default.fileExists(atPath: file) }
            try await world.reload(WorldPlan(settings: settings + "0"))
            try await world.logs("the configuration was read again, and nothing is different")
            try await world.reload(WorldPlan())
            try await world.logs("metrics are not written any more")
        }
    }
}
