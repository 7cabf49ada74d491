import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("Scanning and the adapter")
struct RadioTests {
    private static let scan = World.bridge + "/scan"
    private static let advertisement = World.bridge + "/advertisement"
    /// Unknown tags, which keep advertising.
    private static let strangers = WorldPlan(tags: 3, tagList: "")

    @Test("a scan reports each tag once, without duplicates")
    func once() async throws {
        try await inWorld(Self.strangers) { world in
            let data = try await world.succeeds(World.bridge + "/request/scan", #"{"duration_s":60}"#)
            #expect(data["scanning"] as? Bool == true && data["until"] is String)
            #expect(world.observer.document(Self.scan)["scanning"] as? Bool == true)
            try await until("all three") { world.results(Self.advertisement).count >= 3 }
            let first = world.results(Self.advertisement)[0]
            #expect(first["known"] as? Bool == false && first["rssi"] is Int && first["name"] is String)
            try await world.succeeds(World.bridge + "/request/scan", "stop")
            let serials = world.results(Self.advertisement).compactMap { $0["serial"] as? String }
            #expect(serials.sorted() == ["0001", "0002", "0003"])
            #expect(world.told("connected").isEmpty)
        }
    }

    @Test("a scan with duplicates reports every signal")
    func duplicates() async throws {
        try await inWorld(Self.strangers) { world in
            try await world.succeeds(World.bridge + "/request/scan", #"{"duration_s":60,"duplicates":true}"#)
            try await until("many of each") {
                let serials = world.results(Self.advertisement).compactMap { $0["serial"] as? String }
                return ["0001", "0002", "0003"].allSatisfy { serial in serials.count { $0 == serial } >= 5 }
            }
        }
    }

    @Test("each request to stop has exactly one scan_stopped event, after which nothing is reported")
    func stops() async throws {
        try await inWorld(Self.strangers) { world in
            for round in 1...2 {
                try await world.succeeds(World.bridge + "/request/scan", #"{"duration_s":60,"duplicates":true}"#)
                try await world.succeeds(World.bridge + "/request/scan", "stop")
                #expect(world.events("scan_stopped").count == round)
            }
            try await world.succeeds(World.bridge + "/request/scan", "stop")
            let finals = world.finals(World.bridge + "/response/scan").count
            for payload in ["{}", "stop"] { try world.observer.publish(World.bridge + "/request/scan", payload) }
            try await until("both results") { world.finals(World.bridge + "/response/scan").count == finals + 2 }
            try await world.request("health")
            #expect(world.events("scan_started").count == 3)
            #expect(world.events("scan_stopped").count == 4)
            try await until("no scan") { world.observer.document(Self.scan)["scanning"] as? Bool == false }
            let last = world.observer.messages.lastIndex { $0.topic == Self.advertisement } ?? 0
            let end = try #require(world.observer.messages.lastIndex { $0.topic == Self.scan })
            #expect(last < end)
            try await until("the adapter no longer scans") {
                world.observer.latest(World.bridge + "/adapter")?.contains(#""discovering":false"#) == true
            }
        }
    }

    @Test("a scan ends at its time limit, with one event")
    func duration() async throws {
        try await inWorld(Self.strangers) { world in
            try await world.succeeds(World.bridge + "/request/scan", #"{"duration_s":1}"#)
            try await until("its end") { !world.events("scan_stopped").isEmpty }
            try await until("no scan") { world.observer.document(Self.scan)["scanning"] as? Bool == false }
            try await world.request("health")
            #expect(world.events("scan_stopped").count == 1)
        }
    }

    @Test("switching Bluetooth off ends a scan, rejects the next one, and is a problem until it is on")
    func off() async throws {
        try await inWorld(Self.strangers) { world in
            try await world.succeeds(World.bridge + "/request/scan", #"{"duration_s":60}"#)
            #expect(world.adapterStates == ["powered_on"])
            try await until("something was heard") { !world.results(Self.advertisement).isEmpty }
            try await world.simulate("adapter off")
            try await until("the adapter is off") { world.adapterStates == ["powered_off"] }
            try await until("the scan has ended") { world.events("scan_stopped").count == 1 }
            try await until("no scan") { world.observer.document(Self.scan)["scanning"] as? Bool == false }
            let seen = try await world.succeeds(World.bridge + "/request/tags")["seen"] as? [Any]
            #expect(seen?.isEmpty == true)
            let refused = try await world.request("scan", "{}")
            #expect(World.code(of: refused) == "not_permitted")
            #expect(((refused["error"] as? [String: Any])?["text"] as? String)?.contains("switched off") == true)
            try await until("the event") { world.events("adapter_lost").count == 1 }
            try await until("the problem") {
                world.problems.contains("no_adapter") && world.problems.contains("adapter_not_ready")
            }
            try await world.simulate("adapter on")
            try await until("the adapter is on") { world.adapterStates == ["powered_on"] && world.problems.isEmpty }
            try await until("its event") { world.events("adapter_back").count == 1 }
            #expect(world.events("scan_stopped").count == 1)
        }
    }

    @Test("every adapter is reported with its state")
    func adapters() async throws {
        try await inWorld(WorldPlan(options: ["--adapters", "2"])) { world in
            try await world.connected()
            try await until("both adapters") { world.adapterStates == ["powered_on", "powered_on"] }
            try await world.simulate("adapter off 1")
            try await until("one is off") { world.adapterStates == ["powered_on", "powered_off"] }
            #expect(world.isConnected("0001"))
            try await until("the event") { !world.events("adapter_lost").isEmpty }
            #expect(world.events("adapter_lost").map { $0["adapter"] as? String } == ["hci1"])
        }
    }

    @Test("a tag with bad firmware is a problem in health")
    func badFirmware() async throws {
        try await inWorld(options: ["--profile", "bad-firmware"]) { world in
            try await until("the problem") { world.problems == ["bad_firmware"] }
            #expect(world.observer.document(World.bridge + "/health")["status"] as? String == "degraded")
            #expect(world.observer.document("jacquard/tag/0001/info")["firmware"] as? String == "1.1.0")
        }
    }

    @Test("a device that only advertises like a tag is unusable, with an error in its connection")
    func noService() async throws {
        try await inWorld(options: ["--profile", "no-service"]) { world in
            try await until("the problem") { world.problems == ["tag_unusable"] }
            let connection = world.observer.document("jacquard/tag/0001/connection")
            let error = try #require(connection["error"] as? [String: Any])
            #expect(error["code"] as? String == "service_discovery_error")
            #expect(error["hint"] is String)
            #expect(world.observer.latest("jacquard/tag/0001/availability") == "offline")
        }
    }

    @Test("a tag with old firmware works with writes without response")
    func oldFirmware() async throws {
        try await inWorld(options: ["--profile", "old"]) { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            #expect(world.observer.document("jacquard/tag/0001/info")["firmware"] as? String == "1.42.0")
        }
    }
}

extension World {
    /// The states of the adapters, in their order.
    fileprivate var adapterStates: [String] {
        let text = observer.latest(Self.bridge + "/adapter") ?? "[]"
        let list = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [[String: Any]] ?? []
        return list.compactMap { $0["state"] as? String }
    }

    /// The codes of the problems in `G/health`.
    var problems: [String] {
        let problems = observer.document(Self.bridge + "/health")["problems"] as? [[String: Any]] ?? []
        return problems.compactMap { $0["code"] as? String }
    }
}
