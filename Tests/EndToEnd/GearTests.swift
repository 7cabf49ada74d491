import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Gear, battery and touches")
struct GearTests {
    private static let gear = "jacquard/tag/0001/gear"

    @Test("taken off after a crash is not there on a new link: a tag may report it once for each link")
    func takenOffAfterCrash() async throws {
        try await inWorld { world in
            try await world.connected()
            @LoopActor func crash(_ command: String? = nil) async throws {
                try await until("the gear is stored") { try world.stored("0001")?["attached"] as? Bool == true }
                world.daemon.signal(SIGKILL)
                try await until("the end") { !world.daemon.isRunning }
                if let command { try await world.simulate(command) }
                world.observer.forget()
                try world.restartDaemon()
                try await until("its gear is known") {
                    world.isConnected("0001") && Self.isAttached(in: world) == (command == nil)
                }
            }
            try await crash()
            #expect(world.told("connected").count == 1, "the link of the killed process is used")
            try await crash("detach 0001")
            try await until("a new link") { world.told("connected").count == 2 }
        }
    }

    @LoopActor
    private static func isAttached(in world: World) -> Bool? {
        world.observer.document(gear)["attached"] as? Bool
    }

    @Test("attaching and detaching are reported immediately; without gear all other keys are null")
    func attach() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("detach 0001")
            try await until("no gear") { world.observer.document(Self.gear)["attached"] as? Bool == false }
            let none = world.observer.document(Self.gear)
            for key in ["vendor", "vendor_id", "product", "product_id", "capabilities", "firmware"] {
                #expect(none[key] is NSNull, "\(key)")
            }
            for (word, product) in [("backpack", "Cit-e Backpack"), ("jacket", "Trucker Jacket")] {
                try await world.simulate("attach 0001 \(word)")
                try await until("the gear") { world.observer.document(Self.gear)["firmware"] is String }
                let document = world.observer.document(Self.gear)
                #expect(document["product"] as? String == product)
                #expect((document["capabilities"] as? [String])?.contains("gesture") == true)
                try await world.simulate("detach 0001")
                try await until("no gear") { world.observer.document(Self.gear)["attached"] as? Bool == false }
            }
        }
    }

    @Test("unknown gear is reported with its numbers")
    func unknown() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("attach 0001 unknown")
            // Detaching the jacket is published as well.
            try await until("other gear") {
                let gear = world.observer.document(Self.gear)
                return gear["attached"] as? Bool == true && gear["product"] as? String != "Trucker Jacket"
            }
            let document = world.observer.document(Self.gear)
            #expect(document["attached"] as? Bool == true)
            #expect(document["vendor_id"] is String && document["product_id"] is String)
            try await world.simulate("attach 0001 jacket")
            try await world.connected()
        }
    }

    @Test("configured gear has its names and capabilities, also after a reload")
    func configured() async throws {
        let numbers = "{vendor_id: 00-00-00-01, product_id: 00-00-00-02"
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("attach 0001 unknown")
            try await until("the gear") { world.observer.document(Self.gear)["product_id"] as? String == "00-00-00-02" }
            let refused = try await world.command("jacquard/tag/0001/touch_mode/set", "continuous")
            #expect((refused["error"] as? [String: Any])?["code"] as? String == "unsupported")
            try await world.reload(
                WorldPlan(
                    settings:
                        "gear:\n  - \(numbers), vendor: Somebody, product: Bag, capabilities: [touch_data_stream]}"))
            try await until("the name") { world.observer.document(Self.gear)["product"] as? String == "Bag" }
            #expect(world.observer.document(Self.gear)["vendor"] as? String == "Somebody")
            #expect(world.observer.document(Self.gear)["capabilities"] as? [String] == ["touch_data_stream"])
            try await world.succeeds("jacquard/tag/0001/touch_mode/set", "continuous")
            try await world.reload(WorldPlan())
            try await until("no name") { world.observer.document(Self.gear)["product"] is NSNull }
        }
    }

    @Test("changes of the battery are reported")
    func battery() async throws {
        try await inWorld { world in
            try await world.connected()
            for (level, word) in [(81, "charging"), (80, "not_charging"), (0, "charging"), (100, "charging")] {
                try await world.simulate("battery 0001 \(level) \(word)")
                try await until("\(level)") {
                    let battery = world.observer.document("jacquard/tag/0001/battery")
                    return battery["level"] as? Int == level && battery["charging"] as? Bool == (word == "charging")
                        && world.observer.latest("jacquard/tag/0001/battery/level") == "\(level)"
                }
            }
        }
    }

    @Test("touches are delivered in order and end with the link, after which gear is in gesture mode")
    func touches() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/touch_mode/set", "continuous")
            try await world.simulate("touch 0001 200 100")
            try await until("the last touch") { !world.told("burst").isEmpty }
            try await until("all touches") { world.results("jacquard/tag/0001/touch").count == 200 }
            let numbers = world.results("jacquard/tag/0001/touch").compactMap { $0["seq"] as? Int }
            #expect(numbers == Array((numbers[0])..<(numbers[0] + 200)))
            try await world.simulate("out-of-range 0001")
            try await until("it is away") { world.observer.latest("jacquard/tag/0001/availability") == "offline" }
            try await world.simulate("in-range 0001")
            try await until("gestures again") {
                world.isConnected("0001") && world.observer.latest("jacquard/tag/0001/touch_mode") == "gesture"
            }
            try await world.settled()
            try await world.simulate("gesture 0001 cover")
            try await until("a gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
        }
    }

    @Test("reconnections are counted")
    func reconnection() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("out-of-range 0001")
            try await until("it is away") { world.observer.latest("jacquard/tag/0001/availability") == "offline" }
            try await world.simulate("in-range 0001")
            try await until("the reconnection is counted") {
                world.observer.document("jacquard/tag/0001/stats")["reconnects"] as? Int == 1
            }
        }
    }
}
