import CommandLine
import JSON
import JacquardProtocol
import Terminal
import Testing

@testable import BridgeClient

@Suite("imu with a tag")
struct MotionTagTests {
    /// The command of a command line.
    private static func command(_ words: [String]) throws -> MotionTagCommand {
        let program = ProgramDescription(name: "jacquard2mqtt", summary: "", details: [], sections: [])
        let table = CommandTable(program: program, commands: [MotionCommand.row])
        guard case .command(let action as ClientAction) = try table.parse(["imu"] + words) else {
            throw CommandLineError(message: "another command")
        }
        return try #require(action.command as? MotionTagCommand)
    }

    @Test("the texts of a session are keys of the command", arguments: ["record", "download", "erase"])
    func identification(action: String) throws {
        let options = ["--group", "g", "--campaign", "c", "--product", "p", "--subject", "s 1"]
        #expect(
            try Self.command([action, "003R", "run-1"] + options).payload == [
                "action": .string(action), "session": "run-1", "group": "g", "campaign": "c", "product": "p",
                "subject": "s 1",
            ])
    }

    @Test("a text of a session has at most 30 characters, as in imu/set, and not bytes")
    func characters() throws {
        let name = String(repeating: "é", count: 30)
        let command = try Self.command(["record", "003R", name, "--group", name])
        #expect(command.payload["session"] == .string(name) && command.payload["group"] == .string(name))
        #expect(MotionSessionID(session: name, group: name).isValid)
        let long = String(repeating: "a", count: 31)
        #expect(try Self.command(["erase", "003R", long]).payload["session"] == .string(long))
    }

    @Test(
        "the texts of a session are for actions with a session",
        arguments: [
            ["stream", "003R", "--group", "g"], ["sessions", "003R", "--subject", "s"],
            ["parse", "x.bin", "--product", "p"],
            ["record", "003R", "run-1", "--group", String(repeating: "a", count: 31)],
            ["record", "003R", String(repeating: "é", count: 31)],
            ["record", "003R", String(repeating: "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", count: 30)],
            ["record", "003R", "a\u{7}"],
        ])
    func refused(words: [String]) {
        #expect(throws: CommandLineError.self) { _ = try Self.command(words) }
    }

    @Test("a stream as CSV has the columns and units of a file")
    func units() {
        var first: UInt32?
        let document: JSONValue = [
            "accel_gyro": [[-139, 0, 2048, -16384, 1, 0], [2, 0, 0, 0, 0, 0]], "ticks": 1000, "step": 157,
        ]
        #expect(
            MotionTagCommand.lines(document, &first) == [
                "0.000,-0.06787109375,0.0,1.0,-1000.0,0.06103515625,0.0", "5.024,0.0009765625,0.0,0.0,0.0,0.0,0.0",
            ])
        #expect(MotionTable.Columns.milliseconds.title == "timestamp,ax_g,ay_g,az_g,gx_dps,gy_dps,gz_dps")
    }

    @Test("the time of a stream continues when the tag's clock wraps around")
    func wrap() {
        var first: UInt32? = .max - 156
        let document: JSONValue = ["accel_gyro": [[0, 0, 0, 0, 0, 0]], "ticks": 0, "step": 157]
        #expect(MotionTagCommand.lines(document, &first) == ["5.024,0.0,0.0,0.0,0.0,0.0,0.0"])
    }
}
