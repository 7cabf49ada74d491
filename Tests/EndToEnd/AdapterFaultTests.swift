import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A missing adapter")
struct AdapterFaultTests {
    @Test("is a problem while it is unplugged, and is used when it is back")
    func unplugged() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("adapter unplug")
            try await world.tagIsMissed()
            try await until("the problem") { world.problems.contains("no_adapter") }
            try await until("no adapter") { world.observer.latest(World.bridge + "/adapter") == "[]" }
            try await until("the tag says so") { world.connectionError()["code"] as? String == "bluetooth_power_off" }
            #expect(world.observer.latest(World.bridge + "/state") == "online")
            try await world.simulate("adapter plug")
            try await world.tagReturns(after: "adapter unplugged")
            try await until("no problem") { world.problems.isEmpty }
            try await world.isOfUse()
        }
    }

    @Test("may come back under another number")
    func renumbered() async throws {
        try await inWorld(WorldPlan(options: ["--adapters", "2"])) { world in
            try await world.connected()
            try await world.simulate("adapter unplug 1")
            try await world.simulate("adapter unplug 0")
            try await world.tagIsMissed()
            try await until("the problem") { world.problems.contains("no_adapter") }
            try await world.simulate("adapter plug 1")
            try await world.tagReturns(after: "adapter back under another number")
            try await until("the number") {
                world.observer.document("jacquard/tag/0001/connection")["adapter"] as? String == "hci1"
            }
            try await world.isOfUse()
        }
    }

    @Test("is replaced by another one")
    func another() async throws {
        try await inWorld(WorldPlan(options: ["--adapters", "2"])) { world in
            try await world.connected()
            try await world.simulate("adapter off 0")
            try await world.tagIsMissed()
            try await world.tagReturns(after: "adapter off, another is there")
            try await world.isOfUse()
        }
    }

    @Test("at startup does not keep commands from being answered, and is used when it appears")
    func none() async throws {
        try await inWorld { world in
            world.daemon.signal(SIGTERM)
            try await until("its end") { !world.daemon.isRunning }
            world.observer.forget()
            try await world.simulate("adapter unplug")
            try world.restartDaemon()
            try await until("the problem") { world.problems.contains("no_adapter") }
            let result = try await world.command("jacquard/tag/0001/led/set", #"{"state":"ON","ttl_ms":0}"#)
            #expect(World.code(of: result) == "tag_offline")
            #expect(World.code(of: try await world.request("scan", "{}")) == "not_permitted")
            try await world.simulate("adapter plug")
            try await world.tagReturns(after: "no adapter at the start")
            try await until("no problem") { world.problems.isEmpty }
        }
    }
}
