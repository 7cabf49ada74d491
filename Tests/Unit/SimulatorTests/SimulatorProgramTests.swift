import DBus
import EventLoop
import Foundation
import JacquardProtocol
import Logging
import Simulator
import TestSupport
import Testing

@Suite("Simulator: the program")
struct SimulatorProgramTests {
    private static func start(_ arguments: String...) throws -> Program {
        try Program(Program.buildFolder + "/jacquard-simulator", arguments)
    }

    /// Starts one on a bus of its own and gives the bus's address.
    @LoopActor
    private static func started(_ arguments: String...) async throws -> (Program, String) {
        let program = try Program(Program.buildFolder + "/jacquard-simulator", ["--quick"] + arguments)
        try await until("it is ready") { lines(program).count >= 2 }
        #expect(lines(program)[1] == "ready")
        let prefix = "DBUS_SYSTEM_BUS_ADDRESS="
        #expect(lines(program)[0].hasPrefix(prefix))
        return (program, String(lines(program)[0].dropFirst(prefix.count)))
    }

    private static func lines(_ program: Program) -> [String] {
        program.printed.split(separator: "\n").map(String.init)
    }

    @Test("provides org.bluez on its own bus, which ends with it", arguments: [SIGTERM, SIGINT])
    func ownBus(signal: Int32) async throws {
        try await onLoop {
            let (program, address) = try await Self.started("--tags", "2")
            let client = try await DBusConnection.open(address, log: Logger("client", to: MemorySink()))
            let reply = try await client.call(
                .call(to: "org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
            #expect(reply.arguments.first?.textKeyed?.keys.contains("/org/bluez/hci0") == true)
            program.signal(signal)
            try await until("it has ended") { !program.isRunning }
            #expect(program.exitStatus == 0)
            let folder = String(address.dropFirst("unix:path=".count).dropLast("/bus".count))
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }

    @Test("answers an endless line once, and ends at a signal meanwhile")
    func endlessInput() async throws {
        try await onLoop {
            let command = "exec '\(Program.buildFolder)/jacquard-simulator' --quick </dev/zero"
            let program = try Program("sh", ["-c", command])
            try await until("the answer") { Self.lines(program).contains("error: a line has more than 65536 bytes") }
            program.signal(SIGTERM)
            try await until("it has ended") { !program.isRunning }
            #expect(program.exitStatus == 0)
            #expect(Self.lines(program).count { $0.hasPrefix("error") } == 1)
        }
    }

    @Test("answers each command with a line, and continues after the end of its input")
    func commands() async throws {
        try await onLoop {
            let (program, address) = try await Self.started("--tags", "2")
            for line in ["gesture 0001 double_tap", "battery * 42 charging", "attach 0009 jacket", "fly", "list"] {
                program.type(line)
            }
            try await until("all answers") { Self.lines(program).count == 9 }
            let lines = Self.lines(program)
            #expect(
                lines[2...4] == [
                    "error: 0001: it is not connected", "ok", "error: there is no tag 0009; tags are 0001, 0002",
                ])
            #expect(lines[5].hasPrefix("error: unknown command 'fly'; commands are "))
            #expect(Self.lines(program)[6].contains("42 % charging  jacket    Jacquard-0001"))
            #expect(Self.lines(program).last == "ok")
            program.closeInput()
            let client = try await DBusConnection.open(address, log: Logger("client", to: MemorySink()))
            for _ in 0..<10 {
                _ = try await client.call(
                    .call(to: "org.bluez", "/", "org.freedesktop.DBus.Introspectable", "Introspect"))
            }
            #expect(program.isRunning)
            program.stop()
        }
    }

    @Test("prints each command of help on a line of its own")
    func help() async throws {
        try await onLoop {
            let (program, _) = try await Self.started()
            program.type("help")
            try await until("the answer") { Self.lines(program).last == "ok" }
            let lines = Self.lines(program).dropFirst(2)
            #expect(lines.first == "TAG is a serial, an address, or * for all tags:")
            #expect(lines.contains { $0.hasPrefix("  detach TAG") })
            #expect(!lines.contains { $0.contains("\\u{") })
            program.stop()
        }
    }

    @Test("refuses a number that no adapter has", arguments: ["on", "off", "plug", "unplug"])
    func adapters(change: String) async throws {
        try await onLoop {
            let (program, _) = try await Self.started("--adapters", "2")
            program.type("adapter \(change) 5")
            program.type("adapter \(change) 1")
            try await until("both answers") { Self.lines(program).count == 4 }
            #expect(Self.lines(program).suffix(2) == ["error: there is no adapter 5; adapters are 0, 1", "ok"])
            program.stop()
        }
    }

    @Test("prints JSON with --json, and ends on quit")
    func json() async throws {
        try await onLoop {
            let (program, _) = try await Self.started("--json")
            program.type("detach 0001")
            program.type("nonsense")
            program.type("quit")
            try await until("it has ended") { !program.isRunning }
            #expect(program.exitStatus == 0)
            let lines = Self.lines(program).dropFirst(2)
            #expect(lines.first == #"{"command":"detach 0001","event":"ok"}"#)
            #expect(lines.dropFirst().first?.hasPrefix(#"{"command":"nonsense","error":"unknown command"#) == true)
        }
    }

    @Test("continues after a crash of its BlueZ")
    func crash() async throws {
        try await onLoop {
            let (program, address) = try await Self.started()
            let client = try await DBusConnection.open(address, log: Logger("client", to: MemorySink()))
            var owners: [String?] = []
            let watch = client.watchName("org.bluez") { owners.append($0) }
            try await until("the first owner") { owners.count == 1 }
            program.type("crash-bluez 20")
            try await until("the second owner") { owners.count == 3 }
            #expect(owners[1] == nil)
            #expect(owners[0] != owners[2])
            watch.cancel()
            program.stop()
        }
    }

    @Test("exits with 2 for a wrong command line, and with 1 for a missing bus")
    func usage() async throws {
        try await onLoop {
            for (arguments, status) in [
                (["--fly"], Int32(2)), (["--bus", "unix:path=/nonexistent"], 1), (["--help"], 0),
            ] {
                let program = try Program(Program.buildFolder + "/jacquard-simulator", arguments)
                try await until("it has ended") { !program.isRunning }
                #expect(program.exitStatus == status)
                try await until("it has said why") { !program.printed.isEmpty }
            }
        }
    }

    @Test("simulates one tag on standard input and output")
    func standardIO() async throws {
        try await onLoop {
            let program = try Self.start("--stdio", "--serial", "003R")
            let hello = try Fragmenter.fragments(of: Request.hello().encoded(id: 1)).first ?? []
            let text = hello.map { String(format: "%02x", $0) }.joined()
            for line in [
                #"{"connected":true}"#, #"{"subscribe":"response"}"#, #"{"write":"\#(text)","on":"command"}"#,
                #"{"do":"sleep"}"#, #"{"connected":false}"#, #"{"do":"fly"}"#,
            ] { program.type(line) }
            try await until("the last answer") { program.printed.contains(#"{"error":"#) }
            let lines = Self.lines(program)
            #expect(
                lines.first == #"{"advertise":{"manufacturer_data":{"224":"00306c3f"},"name":"Jacquard-003R","#
                    + #""services":["d2f2bf0d-d165-445c-b0e1-2d6b642ec57b"]}}"#)
            #expect(
                lines.dropFirst().prefix(3) == [
                    #"{"told":{"event":"connected","tag":"003R"}}"#, #"{"advertise":null}"#,
                    #"{"told":{"channel":"response","event":"subscribed","tag":"003R"}}"#,
                ])
            #expect(lines[4].hasPrefix(#"{"notify":"c0"#) && lines[4].hasSuffix(#"","on":"response"}"#))
            #expect(lines[5] == #"{"drop_link":true}"#)
            #expect(lines[6] == #"{"done":"sleep"}"#)
            program.closeInput()
            try await until("it has ended") { !program.isRunning }
            #expect(program.exitStatus == 0)
        }
    }
}
