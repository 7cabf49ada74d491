import JacquardProtocol
import TagFirmware
import Testing

@testable import Simulator

@Suite("Simulator: lines of another radio")
struct StandardIOMessageTests {
    static let lines: [(String, StandardIOMessage)] = [
        (#"{"connected":true}"#, .connected(mtu: 247)), (#"{"connected":true,"mtu":64}"#, .connected(mtu: 64)),
        (#"{"connected":true,"mtu":23}"#, .connected(mtu: 23)),
        (#"{"connected":true,"mtu":null}"#, .connected(mtu: 247)), (#"{"connected":false}"#, .disconnected),
        (#"{"write":"c000","on":"command"}"#, .write([0xC0, 0], on: .command)),
        (#"{"subscribe":"notify"}"#, .subscribe(.notify, isOn: true)),
        (#"{"unsubscribe":"raw"}"#, .subscribe(.rawData, isOn: false)),
        (#"{"do":"gesture double_tap"}"#, .command("gesture double_tap")),
    ]

    @Test("reads each kind of line", arguments: lines)
    func reads(line: String, message: StandardIOMessage) throws {
        #expect(try StandardIOMessage(line) == message)
    }

    @Test(
        "refuses anything else",
        arguments: [
            "", "x", "[]", "{}", #"{"write":"c0"}"#, #"{"write":"c","on":"command"}"#, #"{"write":"c0","on":"x"}"#,
            #"{"subscribe":"x"}"#, #"{"connected":1}"#,
            #"{"connected":true,"mtu":22}"#, #"{"connected":true,"mtu":518}"#, #"{"connected":true,"mtu":"64"}"#,
        ])
    func refuses(line: String) {
        #expect(throws: CommandError.self) { try StandardIOMessage(line) }
    }

    @Test("reads a command without its tag")
    func command() throws {
        #expect(
            try SimulatorCommand.parse("battery 42 charging", for: "003R")
                == .tags(.serial("003R"), .battery(level: 42, isCharging: true)))
        #expect(throws: CommandError.self) { try SimulatorCommand.parse("", for: "003R") }
    }
}
