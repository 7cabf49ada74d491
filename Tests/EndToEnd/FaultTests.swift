import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The bridge continues")
struct FaultTests {
    @Test("when the broker restarts without its store")
    func brokerRestart() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.stopBroker()
            world.observer.forget()
            try await world.startBroker()
            try await world.recovers(from: "broker restarted without its store") {
                world.isConnected("0001") && world.observer.latest("jacquard/bridge/attic/state") == "online"
                    && world.observer.latest("jacquard/tag/0001/info") != nil
            }
            let result = try await world.command("jacquard/tag/0001/led/set", "flash")
            #expect(result["status"] as? String == "ok")
            // Other bridges take over the commands that were lost with the session.
            #expect(world.observer.document(World.bridge + "/info")["session"] as? Int == 2)
            let health = try await world.succeeds(World.bridge + "/request/health")
            #expect(health["broker_reconnects"] as? Int == 1)
        }
    }

    @Test("when a tag leaves the range and returns")
    func outOfRange() async throws {
        try await inWorld { world in
            try await world.connected()
            world.simulator.type("out-of-range 0001")
            try await until("it is away") { world.observer.latest("jacquard/tag/0001/availability") == "offline" }
            world.simulator.type("in-range 0001")
            try await world.tagReturns(after: "tag out of range")
            world.simulator.type("gesture 0001 cover")
            try await until("a gesture") { !world.observer.payloads(of: "jacquard/tag/0001/gesture").isEmpty }
        }
    }

    @Test("when Bluetooth is switched off and on")
    func adapterOff() async throws {
        try await inWorld { world in
            try await world.connected()
            world.simulator.type("adapter off")
            try await until("the tag says so") {
                let error = world.observer.document("jacquard/tag/0001/connection")["error"] as? [String: Any]
                return error?["code"] as? String == "bluetooth_power_off"
            }
            #expect(world.observer.latest("jacquard/tag/0001/availability") == "offline")
            world.simulator.type("adapter on")
            try await world.tagReturns(after: "adapter switched off or blocked")
        }
    }

    @Test("when bluetoothd crashes")
    func bluezCrash() async throws {
        try await inWorld { world in
            try await world.connected()
            world.simulator.type("crash-bluez 200")
            try await until("the tag is offline") {
                world.observer.latest("jacquard/tag/0001/availability") == "offline"
            }
            try await world.tagReturns(after: "bluetoothd crashed, away for 0.2 s")
        }
    }

    @Test("when bluetoothd is missing at startup, which is reported until it runs")
    func withoutBlueZ() async throws {
        try await inWorld { world in
            try await world.stopDaemon()
            try await world.simulate("crash-bluez 3000")
            try world.restartDaemon()
            try await until("the problem") { world.problems.contains("no_adapter") }
            #expect(World.code(of: try await world.request("scan", "{}")) == "not_permitted")
            let result = try await world.command("jacquard/tag/0001/led/set", #"{"state":"ON","ttl_ms":0}"#)
            #expect(World.code(of: result) == "tag_offline")
            try await world.tagReturns(after: "no bluetoothd at the start, its absence included")
            try await until("no problem") { world.problems.isEmpty }
        }
    }

    @Test("when Bluetooth is off at startup, with one warning until it is on")
    func offAtStart() async throws {
        try await inWorld { world in
            try await world.stopDaemon()
            try await world.simulate("adapter off")
            try world.restartDaemon()
            try await until("the problem") { world.problems.contains("no_adapter") }
            #expect(World.code(of: try await world.request("scan", "{}")) == "not_permitted")
            let lines = world.daemon.printed.split(separator: "\n").filter { $0.contains("no tag can be reached") }
            #expect(lines.count == 1 && lines.first?.contains("poweredOff") == true, "\(lines)")
            try await world.simulate("adapter on")
            try await world.connected()
        }
    }

    @Test("when the state of Bluetooth is unknown at startup: requests wait for it")
    func firstMoments() async throws {
        try await inWorld { world in
            try await world.stopDaemon()
            world.simulator.signal(SIGSTOP)
            try world.restartDaemon()
            try await until("the bridge is online") { world.observer.latest(World.bridge + "/state") == "online" }
            let topic = World.bridge + "/request/scan"
            let impatient = try await world.command(topic, #"{"ttl_ms":300}"#)
            #expect(World.code(of: impatient) == "not_permitted")
            try world.observer.publish(topic, "{}")
            let response = World.bridge + "/response/scan"
            try await until("it is accepted") { world.results(response).last?["status"] as? String == "accepted" }
            world.simulator.signal(SIGCONT)
            try await until("its result") { world.finals(response).count == 2 }
            #expect(world.finals(response)[1]["status"] as? String == "ok")
            try await world.connected()
        }
    }

    @Test("after it was killed: the next process takes the tags over")
    func killed() async throws {
        try await inWorld { world in
            try await world.connected()
            world.daemon.signal(SIGKILL)
            world.daemon.waitForExit()
            try await until("the will") { world.observer.latest("jacquard/bridge/attic/state") == "offline" }
            world.observer.forget()
            try world.restartDaemon()
            // Includes the notifications that a tag sends only at the start of a link.
            try await world.recovers(from: "bridge killed, then started: its links adopted") {
                world.isConnected("0001") && world.observer.document("jacquard/tag/0001/gear")["firmware"] is String
            }
            #expect(world.observer.latest("jacquard/tag/0001/battery/level") == "87")
            try await world.isOfUse()
            #expect(world.observer.payloads(of: "jacquard/tag/0001/gesture").count == 1)
            let state = { try String(contentsOfFile: world.folder.path + "/tags.json", encoding: .utf8) }
            try await until("the link is known") { try state().contains(#""link""#) }
            try await world.stopDaemon()
            #expect(try !state().contains(#""link""#))
        }
    }

    @Test(
        "until it is stopped: then it publishes offline, also if the broker accepts one message at a time"
    )
    func stopWithQueue() async throws {
        try await inWorld(WorldPlan(tags: 3, broker: ["max_inflight_messages 1"])) { world in
            // The first facts are still queued.
            try await world.stopDaemon()
            try world.restartDaemon()
            try await world.connected(1...3)
            try await world.stopDaemon()
            #expect(world.daemon.exitStatus == 0)
        }
    }

    @Test("until it is stopped: then it disconnects and leaves no link behind")
    func cleanStop() async throws {
        try await inWorld(tags: 3) { world in
            try await world.connected(1...3)
            let watch = Stopwatch()
            world.daemon.signal(SIGTERM)
            try await world.recovers(from: "SIGTERM, until the end") { !world.daemon.isRunning }
            #expect(world.daemon.exitStatus == 0)
            #expect(watch.isWithin(.seconds(5)))
            try await until("goodbye") { world.observer.latest("jacquard/bridge/attic/state") == "offline" }
            for number in 1...3 {
                #expect(world.observer.latest("jacquard/tag/\(World.serial(number))/availability") == "offline")
            }
            try await until("the links are down") { world.told("disconnected").count == 3 }
        }
    }
}
