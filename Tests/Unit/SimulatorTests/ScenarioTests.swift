import TestSupport
import Testing

@testable import Simulator

@Suite("Scenario")
struct ScenarioTests {
    @Test("is commands, pauses and comments")
    func steps() throws {
        let scenario = try Scenario(
            """
            # the sleeve is brushed
            gesture 0001 brush_in

            wait 1.5   # seconds
            adapter off
            """)
        #expect(scenario.steps.count == 3)
        #expect(scenario.steps[1] == .wait(.milliseconds(1500)))
        #expect(try Scenario("").steps == [])
    }

    @Test("names an invalid line", arguments: [("\nfly", 2), ("wait", 1), ("list\n\nwait soon", 3)])
    func refused(text: String, line: Int) {
        let error = #expect(throws: CommandError.self) { try Scenario(text) }
        #expect(error?.description.hasPrefix("line \(line): ") == true)
    }

    @Test("is played by the program")
    func played() async throws {
        try await onLoop {
            let folder = try ScratchFolder()
            let file = try folder.write("play", "battery 0001 12\nwait 0.01\nlist\nquit\n")
            let simulator = try Program(Program.buildFolder + "/jacquard-simulator", ["--scenario", file])
            try await until("its end") { simulator.hasEnded }
            #expect(simulator.exitStatus == 0)
            #expect(simulator.printed.contains("12"))
        }
    }

    @Test("that is missing or invalid ends the program with an error", arguments: ["", "fly\n"])
    func wrong(text: String) async throws {
        try await onLoop {
            let folder = try ScratchFolder()
            let file = text.isEmpty ? folder.path + "/missing" : try folder.write("play", text)
            let simulator = try Program(Program.buildFolder + "/jacquard-simulator", ["--scenario", file])
            try await until("its end") { simulator.hasEnded }
            #expect(simulator.exitStatus == 1)
            try await until("why") { simulator.printed.contains(text.isEmpty ? "No such file" : "line 1") }
        }
    }
}
