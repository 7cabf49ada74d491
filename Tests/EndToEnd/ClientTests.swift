import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The command line asks the running bridge")
struct ClientTests {
    @Test("for tags and status, as a table and as JSON")
    func looking() async throws {
        try await inWorld { world in
            try await world.connected()
            let tags = try await world.client("tags")
            #expect(tags.status == 0)
            #expect(tags.printed.contains("SERIAL") && tags.printed.contains("F0:00:00:00:00:01"))
            let known = try await world.clientJSON("tags")["known"] as? [[String: Any]]
            #expect(known?.first?["id"] as? String == "0001")
            let status = try await world.client("status")
            #expect(status.status == 0)
            #expect(status.printed.contains("0001"))
            let document = try await world.clientJSON("status")
            #expect((document["bridge"] as? [String: Any])?["state"] as? String == "online")
        }
    }

    @Test("to light an LED and to vibrate; 1 when the tag cannot")
    func acting() async throws {
        try await inWorld { world in
            try await world.connected()
            #expect(try await world.client("led", "0001", "red").status == 0)
            #expect(try await world.clientJSON("led", "0001", "flash")["status"] as? String == "ok")
            #expect(world.told("led").first?["color"] as? String == "#ff0000")
            #expect(try await world.client("haptic", "0001", "short").status == 0)
            #expect(try await world.clientJSON("haptic", "0001", "long")["status"] as? String == "ok")
            try await until("the report of the simulator") { world.told("haptic").count == 2 }
            try await world.simulate("detach 0001")
            try await until("no gear") {
                world.observer.document("jacquard/tag/0001/gear")["attached"] as? Bool == false
            }
            let refused = try await world.client("haptic", "0001", "short")
            #expect(refused.status == 1)
            #expect(refused.printed.contains("No gear"))
            let unknown = try await world.client("led", "9999", "red", "--json")
            #expect(unknown.status == 1)
            #expect(unknown.printed.contains("unknown_tag"))
            #expect(try await world.client("led", "0001", "reddish").status == 2)
        }
    }

    @Test("to scan, to pair and to forget")
    func pairing() async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "")) { world in
            let scan = try await world.client("scan", "--duration", "1")
            #expect(scan.status == 0)
            #expect(scan.printed.contains("0001") && scan.printed.contains("0002"))
            let heard = try await world.clientJSON("scan", "--duration", "1")
            #expect(heard["source"] as? String == "bridge")
            #expect((heard["tags"] as? [Any])?.count == 2)
            let paired = try await world.client("pair", "0002")
            #expect(paired.status == 0)
            #expect(paired.printed.contains("0002 is paired"))
            try await world.connected(2...2)
            let absent = try await world.client("pair", "0009", "--timeout", "2", "--json")
            #expect(absent.status == 1)
            #expect(absent.printed.contains(#""expired""#))
            // On standard error; standard output has only the document.
            #expect(absent.printed.contains("Hold the button of the tag 0009 for three seconds"))
            #expect(try await world.client("forget", "0009").status == 1)
            let forgotten = try await world.clientJSON("forget", "0002")
            #expect(forgotten["status"] as? String == "ok")
            #expect(try await world.retainedTopics().filter { $0.contains("0002") } == [])
        }
    }

    @Test(
        "to show what comes, until it is ended",
        arguments: [([], "gesture brush in"), (["--json"], #""event_type":"brush_in""#)])
    func monitor(options: [String], line: String) async throws {
        try await inWorld { world in
            try await world.connected()
            let monitor = try Program(
                Program.buildFolder + "/jacquard2mqtt", ["monitor", "0001"] + options, environment: world.environment)
            try await until("what was known before") { monitor.printed.contains("0001") }
            try await world.simulate("gesture 0001 brush_in")
            try await until("the gesture") { monitor.printed.contains(line) }
            monitor.signal(SIGINT)
            try await until("its end") { monitor.hasEnded }
            #expect(monitor.exitStatus == 0)
        }
    }

    @Test("and ends with 3 when there is no bridge, and when there is no broker; a scan needs none of them")
    func nobody() async throws {
        try await inWorld { world in
            try await world.connected()
            world.daemon.signal(SIGTERM)
            try await until("the bridge is offline") {
                world.observer.latest(World.bridge + "/state") == "offline"
            }
            for arguments in [["status"], ["tags"], ["led", "0001", "red"], ["pair", "0002"], ["forget", "0001"]] {
                let offline = try await world.client(arguments)
                #expect(offline.status == 3, "\(arguments): \(offline.printed)")
                #expect(offline.printed.contains("offline"), "\(arguments)")
            }
            let heard = try await world.clientJSON("scan", "--duration", "1")
            #expect(heard["source"] as? String == "adapter")
            #expect((heard["tags"] as? [[String: Any]])?.map { $0["serial"] as? String } == ["0001"])
            try await world.stopBroker()
            for arguments in [["status"], ["tags"], ["haptic", "0001", "short", "--json"], ["monitor"]] {
                let alone = try await world.client(arguments)
                #expect(alone.status == 3, "\(arguments): \(alone.printed)")
            }
            #expect(try await world.client("scan", "--duration", "1").status == 0)
        }
    }
}

extension World {
    /// Runs a command of the command line to its end.
    fileprivate func client(_ arguments: String...) async throws -> (status: Int32?, printed: String) {
        try await client(arguments)
    }

    /// Runs a command of the command line to its end.
    fileprivate func client(_ arguments: [String]) async throws -> (status: Int32?, printed: String) {
        try await run(Program.buildFolder + "/jacquard2mqtt", arguments)
    }

    /// Runs a command with `--json`, which has to succeed, and reads the one object among what it prints.
    fileprivate func clientJSON(_ arguments: String...) async throws -> [String: Any] {
        let (status, printed) = try await client(arguments + ["--json"])
        #expect(status == 0, "\(arguments): \(printed)")
        let objects = printed.split(separator: "\n").filter { $0.hasPrefix("{") }
        #expect(objects.count == 1, "\(arguments): \(printed)")
        return Observer.object(objects.first.map(String.init) ?? "")
    }
}
