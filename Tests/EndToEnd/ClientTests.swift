import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The command line uses the running bridge")
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

    @Test("without the name of the bridge, if one is online")
    func onlyBridge() async throws {
        try await inWorld { world in
            try await world.connected()
            let file = try world.folder.write("client.yaml", "mqtt: {host: 127.0.0.1, port: \(world.broker.port)}\n")
            for words in [["led", "0001", "red"], ["status"], ["why", "0001"], ["scan", "--duration", "1"]] {
                let result = try await world.client(words + ["--config", file])
                #expect(result.status == 0, "\(words): \(result.printed)")
            }
            let named = try world.folder.write("named.yaml", "instance: hall\nmqtt: {port: \(world.broker.port)}\n")
            #expect(try await world.client("--config", named, "status").status == 3)
        }
    }

    @Test("for each setting of a tag, and for the log level")
    func settings() async throws {
        try await inWorld { world in
            try await world.connected()
            #expect(try await world.client("touch-mode", "0001", "continuous").status == 0)
            try await until("the mode") { world.observer.latest("jacquard/tag/0001/touch_mode") == "continuous" }
            let battery = try await world.client("battery", "0001")
            #expect(battery.status == 0 && battery.printed.hasPrefix("0001: battery "))
            let written = try await world.client("config", "0001", "colour", "7")
            #expect(written.printed == "0001: colour is 7 (uint32)\n", "\(written.printed)")
            let read = try await world.clientJSON("config", "0001", "colour")
            #expect((read["data"] as? [String: Any])?["value"] as? Int == 7)
            #expect(try await world.client("config", "0001", "colour", "8", "--type", "byte").status == 2)
            #expect(try await world.client("log-level", "warning").printed.contains("attic logs at level warning"))
            let away = try await world.client("connection", "0001", "disconnect")
            #expect(away.status == 0 && away.printed == "0001 is disconnected\n", "\(away.printed)")
            #expect(try await world.client("battery", "0001").status == 1)
            #expect(try await world.client("connection", "0001", "connect").status == 0)
            #expect(try await world.client("sleep", "0001", "--timeout", "600").status == 0)
            // The last one, because a tag ends its connection after it was renamed.
            #expect(try await world.client("name", "0001", "Left sleeve").status == 0)
            try await until("the name") { world.told("renamed").first?["name"] as? String == "Left sleeve" }
        }
    }

    @Test("why a tag is not connected; 0 if it is, 1 for a broken link, 3 without bridge or broker")
    func why() async throws {
        try await inWorld { world in
            try await world.connected()
            let good = try await world.client("why", "0001")
            #expect(good.status == 0, "\(good.printed)")
            #expect(good.printed.hasPrefix("ok       broker          connected with MQTT 5"))
            #expect(try await world.clientJSON("why", "0001")["broken"] is NSNull)
            #expect(world.observer.document("jacquard/tag/0001/connection")["why"] is NSNull)
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            let held = try await world.client("why", "0001")
            #expect(held.status == 1)
            #expect(held.printed.contains("failed   policy          disconnected by the user"))
            #expect(held.printed.contains("-> jacquard2mqtt connection 0001 connect"))
            let sentence = world.observer.document("jacquard/tag/0001/connection")["why"] as? String
            #expect(sentence == "disconnected by the user")
            let unknown = try await world.client("why", "9999")
            #expect(unknown.status == 1 && unknown.printed.contains("there are 0001"), "\(unknown.printed)")
            world.daemon.signal(SIGSTOP)
            let silent = try await world.client("why", "0001")
            world.daemon.signal(SIGCONT)
            #expect(silent.status == 3 && silent.printed.contains("has not answered"), "\(silent.printed)")
            try await world.stopDaemon()
            let offline = try await world.client("why", "0001")
            #expect(offline.status == 3 && offline.printed.contains("failed   bridge"), "\(offline.printed)")
            try await world.stopBroker()
            let alone = try await world.client("why", "0001")
            #expect(alone.status == 3 && alone.printed.contains("failed   broker"), "\(alone.printed)")
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
            let left = try await world.retainedTopics().filter { $0.contains("0002") }
            #expect(left == [])
        }
    }

    @Test(
        "to show events until it is interrupted",
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
            let alone = try await world.client("scan", "--duration", "1")
            #expect(alone.status == 0)
            #expect(alone.printed.contains("There is no connection to the broker"), "\(alone.printed)")
            #expect(!alone.printed.contains("no bridge runs"))
        }
    }
}

extension World {
    /// Runs a command of the command line to its end.
    func client(_ arguments: String...) async throws -> (status: Int32?, printed: String) {
        try await client(arguments)
    }

    /// Runs a command of the command line to its end.
    func client(_ arguments: [String]) async throws -> (status: Int32?, printed: String) {
        try await run(Program.buildFolder + "/jacquard2mqtt", arguments)
    }

    /// Runs a command with `--json`, which has to succeed, and reads the one object among what it prints.
    func clientJSON(_ arguments: String...) async throws -> [String: Any] {
        let (status, printed) = try await client(arguments + ["--json"])
        #expect(status == 0, "\(arguments): \(printed)")
        let objects = printed.split(separator: "\n").filter { $0.hasPrefix("{") }
        #expect(objects.count == 1, "\(arguments): \(printed)")
        return Observer.object(objects.first.map(String.init) ?? "")
    }
}
