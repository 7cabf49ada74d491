import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The checkup of a tag")
struct CheckupTests {
    /// The findings of a checkup with `--json`, by feature.
    @LoopActor
    private static func findings(_ printed: String) throws -> [String: [String: Any]] {
        let line = try #require(printed.split(separator: "\n").last { $0.hasPrefix("{\"findings\"") }, "\(printed)")
        let rows = try #require(Observer.object(String(line))["findings"] as? [[String: Any]])
        return Dictionary(rows.map { ($0["feature"] as? String ?? "", $0) }) { $1 }
    }

    private static func results(_ findings: [String: [String: Any]], _ word: String) -> Set<String> {
        Set(findings.filter { $0.value["result"] as? String == word }.keys)
    }

    /// Performs what the instructions say, in order.
    @LoopActor
    private static func help(_ checkup: Program, in world: World, _ steps: [(String, [String])]) async throws {
        for (instruction, commands) in steps {
            try await until("the instruction: \(instruction)", within: .seconds(60)) {
                checkup.printed.contains(instruction) || checkup.hasEnded
            }
            #expect(!checkup.hasEnded, "\(checkup.printed)")
            for command in commands {
                if command.isEmpty || command == "y" {
                    checkup.type(command)
                } else {
                    try await world.simulate(command)
                }
            }
        }
    }

    @Test("finds that everything works, with the owner's help")
    func healthy() async throws {
        try await inWorld { world in
            try await world.connected()
            let checkup = try Program(
                Program.buildFolder + "/jacquard2mqtt", ["checkup", "0001", "--json"], environment: world.environment)
            try await Self.help(
                checkup, in: world,
                [
                    ("Did the LED of the tag light up green?", ["y"]), ("Did the gear vibrate?", ["y"]),
                    ("Move a finger over", ["touch 0001"]),
                    ("ten times", [""]), ("towards yourself", ["gesture 0001 brush_in"]),
                    ("away from yourself", ["gesture 0001 brush_out"]), ("Tap the woven", ["gesture 0001 double_tap"]),
                    ("Cover the woven", ["gesture 0001 cover"]), ("Take the tag out", ["detach 0001"]),
                    ("Put the tag into", ["attach 0001 jacket"]), ("to its charger", ["battery 0001 50 charging"]),
                    ("then move it", ["button 0001"]),
                ])
            try await until("its end", within: .seconds(60)) { checkup.hasEnded }
            let findings = try Self.findings(checkup.printed)
            let fine = Self.results(findings, "works").union(Self.results(findings, "skipped"))
            // The simulated jacket has no LED, and BlueZ has no signal strength of a connected tag.
            #expect(Self.results(findings, "skipped") == ["gear_led", "slides"], "\(checkup.printed)")
            #expect(fine.union(["rssi"]) == Set(findings.keys), "\(checkup.printed)")
            #expect(world.observer.latest("jacquard/tag/0001/touch_mode") == "gesture")
        }
    }

    @Test("describes a deviating tag, and the replay of its report shows the same deviations")
    func deviating() async throws {
        let folder = try ScratchFolder()
        let report = folder.path + "/report.txt"
        let deviations: Set = ["battery", "battery_report", "store_write", "store_read", "mtu", "requests", "packets"]
        try await inWorld(options: ["--profile", "deviating", "--mtu", "48"]) { world in
            let findings = try await Self.checkup(world, ["--report", report])
            let found = Self.results(findings, "differs").union(Self.results(findings, "missing"))
            #expect(found.subtracting(["rssi"]) == deviations, "\(findings)")
            #expect((findings["mtu"]?["detail"] as? String)?.hasPrefix("48, expected") == true)
            #expect((findings["packets"]?["detail"] as? String)?.contains("domain 7 opcode 99") == true)
            #expect((findings["requests"]?["detail"] as? String)?.contains("battery_status") == true)
            #expect((findings["store_write"]?["detail"] as? String)?.contains("ERROR_UNSUPPORTED") == true)
        }
        let text = try String(contentsOfFile: report, encoding: .utf8)
        for part in ["== findings ==", "== versions ==", "== configuration ==", "== recording ==", "== log =="] {
            #expect(text.contains(part), "\(part)")
        }
        for secret in [" 0001", "Jacquard-0001", "F0:00:00:00:00:01", "30303031"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        try await inWorld(options: ["--replay-traffic", report, "--speed", "5"]) { world in
            let findings = try await Self.checkup(world, [])
            let found = Self.results(findings, "differs").union(Self.results(findings, "missing"))
            #expect(found.subtracting(["rssi"]) == deviations, "\(findings)")
            #expect((findings["packets"]?["detail"] as? String)?.contains("domain 7 opcode 99") == true)
        }
    }

    /// Performs a checkup without prompts.
    @LoopActor
    private static func checkup(_ world: World, _ options: [String]) async throws -> [String: [String: Any]] {
        try await world.connected()
        let checkup = try Program(
            Program.buildFolder + "/jacquard2mqtt", ["checkup", "0001", "--no-prompts", "--json"] + options,
            environment: world.environment)
        try await until("the end of the checkup", within: .seconds(120)) { checkup.hasEnded }
        #expect(checkup.exitStatus == 1)
        return try findings(checkup.printed)
    }

    @Test("names a tag that the bridge does not have")
    func unknown() async throws {
        try await inWorld { world in
            let (status, printed) = try await world.run(
                Program.buildFolder + "/jacquard2mqtt", ["checkup", "0009", "--no-prompts"])
            #expect(status == 1 && printed.contains(#"There is no tag "0009"; there are 0001"#), "\(printed)")
        }
    }
}
