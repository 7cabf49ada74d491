import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A tag that connects and disconnects")
struct TagFaultTests {
    @Test("repeatedly is connected in the end, and affects no other")
    func flaps() async throws {
        try await inWorld(tags: 2) { world in
            try await world.connected(1...2)
            for round in 1...6 {
                try await world.simulate("out-of-range 0001")
                try await until("loss \(round)") { world.told("disconnected").count >= round }
                try await world.simulate("in-range 0001")
                try await until("link \(round + 1)", within: .seconds(40)) {
                    world.told("connected").count { $0["tag"] as? String == "0001" } > round
                }
            }
            try await world.recovers(from: "tag that flaps six times") {
                world.isConnected("0001") && world.told("subscribed", "disconnected").last?["channel"] != nil
            }
            try await world.isOfUse()
            try await world.isOfUse("0002")
            #expect(world.told("disconnected").allSatisfy { $0["tag"] as? String == "0001" })
            let reconnects = world.observer.document("jacquard/tag/0001/stats")["reconnects"] as? Int
            #expect(try #require(reconnects) >= 1)
        }
    }

    @Test("because it sleeps is not tried until its button is pressed")
    func sleeps() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("sleep 0001")
            try await world.tagIsMissed()
            #expect(
                World.code(of: try await world.command("jacquard/tag/0001/led/set", #"{"flash":1,"ttl_ms":0}"#))
                    == "tag_offline")
            try await world.simulate("button 0001")
            try await world.tagReturns(after: "tag asleep")
            try await world.isOfUse()
        }
    }

    @Test("while it hangs fails one command only: the next one is executed")
    func hangs() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("fault 0001 hang")
            #expect(World.code(of: try await world.command("jacquard/tag/0001/battery/get", "")) == "timeout")
            try await world.simulate("fault 0001 clear")
            let topic = "jacquard/tag/0001/battery"
            let count = world.finals(topic + "/result").count
            try world.observer.publish(topic + "/get", "")
            try await world.recovers(from: "tag that does not answer") { world.finals(topic + "/result").count > count }
            try await world.isOfUse()
        }
    }

    @Test("and hangs while it is being connected is retried")
    func hangsAtStart() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("fault 0001 hang")
            try await world.simulate("out-of-range 0001")
            try await world.tagIsMissed()
            try await world.simulate("in-range 0001")
            try await until("the next attempt is announced", within: .seconds(40)) { !world.pauses.isEmpty }
            try await world.simulate("fault 0001 clear")
            try await world.tagReturns(after: "tag that hangs at the start of a link")
            try await world.isOfUse()
        }
    }
}
