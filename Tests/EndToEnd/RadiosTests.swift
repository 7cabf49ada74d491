import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Several radios")
struct RadiosTests {
    private static let radios =
        "bluetooth:\n  radios:\n    - {adapter: hci0, name: hall}\n    - {adapter: hci1, name: loft}\n"
    private static let availability = "jacquard/tag/0001/availability"

    @Test("a tag that walks is connected by the radio that receives it, and stays available")
    func walk() async throws {
        try await inWorld(WorldPlan(options: ["--places", "0,0:50,0"], settings: Self.radios)) { world in
            try await world.connected()
            #expect(world.radio == "hall")
            for (place, radio) in [("50,0", "loft"), ("0,0", "hall")] {
                try await world.simulate("move 0001 \(place)")
                try await until("the link by the \(radio)") { world.radio == radio && world.isConnected("0001") }
            }
            let offline = world.observer.payloads(of: Self.availability).drop { $0 != "online" }
            #expect(!offline.contains("offline"))
            try await world.simulate("gesture 0001 double_tap")
            try await until("the gesture") { world.observer.payloads(of: "jacquard/tag/0001/gesture").count == 1 }
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            let list = world.observer.latest("jacquard/tag/0001/radios") ?? ""
            #expect(list.contains(#""radio":"hall""#))
            let adapters = world.observer.latest(World.bridge + "/adapter") ?? ""
            #expect(adapters.contains(#""radio":"hall""#) && adapters.contains(#""radio":"loft""#))
        }
    }

    @Test("the tags of a radio that is unplugged go to the other one, and the radio is a problem until it is back")
    func unplugged() async throws {
        try await inWorld(WorldPlan(tags: 2, options: ["--places", "0,0:20,0"], settings: Self.radios)) { world in
            try await world.connected(1...2)
            try await world.simulate("adapter unplug 0")
            try await until("the links by the loft") {
                world.radio == "loft" && world.isConnected("0001") && world.isConnected("0002")
            }
            #expect(world.problems == ["radio_lost"])
            for tag in ["0001", "0002"] {
                let errors = world.results("jacquard/tag/\(tag)/connection").compactMap {
                    $0["error"] as? [String: Any]
                }
                #expect(errors.last?["bluez"] as? String == "radio_lost", "\(errors)")
            }
            try await world.simulate("adapter plug 0")
            try await until("the radio") { world.problems.isEmpty }
            #expect(world.radio == "loft")
        }
    }

    @Test("Home Assistant loses the entity Radio when the bridge has one radio again")
    func announcement() async throws {
        let topic = "homeassistant/device/jacquard_tag_0001/config"
        try await inWorld(WorldPlan(options: ["--places", "0,0:50,0"], settings: Self.radios)) { world in
            try await world.connected()
            try await until("the entity") { world.observer.latest(topic)?.contains(#""name":"Radio""#) == true }
            try await world.reload(WorldPlan())
            try await world.stopAndStartDaemon()
            try await world.connected()
            try await until("its removal") {
                world.observer.payloads(of: topic).contains { $0.contains(#""radio":{"platform":"sensor"}"#) }
                    && world.observer.latest(topic)?.contains(#""name":"Radio""#) == false
            }
        }
    }

    @Test("a radio without a bond never connects a tag; pairing adds the bond, and forgetting removes all of them")
    func bonds() async throws {
        let plan = WorldPlan(options: ["--places", "0,0:50,0", "--pairing"], tagList: "", settings: Self.radios)
        try await inWorld(plan) { world in
            try await world.succeeds(World.bridge + "/request/pair", "0001")
            try await world.connected()
            #expect(world.radio == "hall")
            try await world.simulate("move 0001 50,0")
            try await until("the missing bond", within: .seconds(30)) { world.problems == ["no_bond_here"] }
            #expect(!world.isConnected("0001"))
            try await world.logs("received by radios without a bond only tag=0001 radio=loft")
            try await world.succeeds(World.bridge + "/request/pair", #"{"serial":"0001","radio":"loft"}"#)
            try await until("the link by the loft") { world.radio == "loft" && world.isConnected("0001") }
            try await until("no problem") { world.problems.isEmpty }
            try await world.simulate("move 0001 0,0")
            try await until("the link by the hall") { world.radio == "hall" && world.isConnected("0001") }
            let pair = try Program(
                Program.buildFolder + "/jacquard2mqtt", ["pair", "0001", "--all-radios"], environment: world.environment
            )
            try await until("the result of the first radio") { pair.printed.contains("Radio loft, 2 of 2") }
            try await world.simulate("move 0001 50,0")
            // The loft has the link, and makes another one. The hall is too far away until the tag goes back, without its bond.
            try await until("the check of the hall", within: .seconds(40)) {
                pair.printed.contains("Checking the bond with hall, 2 of 2")
            }
            try await world.simulate("lose-bond 0001")
            try await world.simulate("move 0001 0,0")
            try await until("the results", within: .seconds(40)) { pair.hasEnded }
            #expect(
                pair.printed.contains(
                    "hall: paired; does not work: No connection with the radio hall: the device has lost"),
                "\(pair.printed)")
            #expect(pair.printed.contains("loft: paired, works\n"), "\(pair.printed)")
            #expect(pair.printed.contains("0001 has bonds with: loft"), "\(pair.printed)")
            #expect(pair.exitStatus == 1)
            try await world.succeeds(World.bridge + "/request/forget", "0001")
            try await until("nothing is retained") { world.observer.latest("jacquard/tag/0001/radios") == "" }
        }
    }
}

extension World {
    /// The radio of the first tag's connection.
    fileprivate var radio: String? { observer.document("jacquard/tag/0001/connection")["radio"] as? String }
}
