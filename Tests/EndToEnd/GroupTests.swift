import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Groups and lists of tags")
struct GroupTests {
    @Test("a command to a group of two bridges has one result per tag, from the bridge of the tag")
    func twoBridges() async throws {
        let hall = "groups:\n  - {name: hall, tags: [0001, 0002, 9999]}\n"
        try await inWorld(WorldPlan(tags: 2, tagList: "  - serial: 0001", settings: hall)) { world in
            let cellar = try world.anotherBridge("cellar", tag: "0002", settings: hall)
            try await world.connected(1...2)
            try await until("each knows of the other") {
                ["attic", "cellar"].allSatisfy {
                    world.observer.document("jacquard/bridge/\($0)/info")["connected"] as? [String] != []
                }
            }
            try world.observer.publish("jacquard/group/hall/led/set", #"{"color":"red","id":"a"}"#)
            let tags = ["0001", "0002", "9999"]
            @LoopActor func results() -> [[String: Any]] {
                tags.flatMap { world.finals("jacquard/tag/\($0)/led/result") }
            }
            try await until("the results") { results().count >= 3 }
            // Both bridges receive it behind the command.
            for bridge in ["attic", "cellar"] {
                _ = try await world.command("jacquard/bridge/\(bridge)/request/health", "")
            }
            #expect(results().compactMap { $0["tag"] as? String } == tags)
            #expect(results().compactMap { $0["bridge"] as? String } == ["attic", "cellar", "attic"])
            #expect(results().compactMap { $0["status"] as? String } == ["ok", "ok", "error"])
            #expect(World.code(of: results()[2]) == "unknown_tag")
            try await until("the report of the simulator") { world.told("led").count == 2 }

            let listed = try await world.client("led", "hall", "blue")
            #expect(listed.status == 1)
            #expect(listed.printed.contains("0001: LED is") && listed.printed.contains("0002: LED is"))
            #expect(listed.printed.contains("9999: unknown_tag: There is no tag"), "\(listed.printed)")
            #expect(listed.printed.contains("jacquard2mqtt: 1 of 3 tags failed: 9999 (unknown_tag)"))
            let both = try await world.clientJSON("led", "0002,0001", "off")
            #expect((both["results"] as? [[String: Any]])?.compactMap { $0["tag"] as? String } == ["0002", "0001"])
            #expect(
                (both["results"] as? [[String: Any]])?.compactMap { $0["bridge"] as? String } == ["cellar", "attic"])
            // Of the selected bridge.
            let all = try await world.client("led", "all", "green")
            #expect(all.status == 0 && all.printed.split(separator: "\n").count == 1, "\(all.printed)")
            let battery = try await world.client("battery", "0001,0002")
            #expect(battery.status == 0)
            let lines = battery.printed.split(separator: "\n").map { String($0.prefix(13)) }
            #expect(lines == ["0001: battery", "0002: battery"])
            let status = try await world.client("status", "--all")
            #expect(status.status == 0 && status.printed.contains("bridge attic: online"), "\(status.printed)")
            #expect(status.printed.contains("bridge cellar: online") && !status.printed.contains("\u{1B}"))
            let coloured = try await world.client("status", "--all", "--color", "always")
            #expect(coloured.printed.contains("bridge cellar: \u{1B}[32monline\u{1B}[0m"))
            #expect(try await world.client("status", "--color", "blue").status == 2)
            cellar.signal(SIGTERM)
            try await until("the other one leaves") { !cellar.isRunning }
            let rest = try await world.client("status", "--all")
            #expect(rest.status == 3, "\(rest.printed)")
            #expect(rest.printed.contains("1 of 2 bridges is offline: cellar"), "\(rest.printed)")
            let offline = try await world.client("led", "0001,0002", "red")
            #expect(offline.status == 1, "\(offline.printed)")
            let isNamed = offline.printed.contains("0002: bridge_offline")
            #expect(isNamed, "\(offline.printed)")
        }
    }

    @Test("a reload subscribes to groups, and removes the last one")
    func reload() async throws {
        try await inWorld { world in
            try await world.connected()
            var groups: [String: [String]]? {
                world.observer.document("jacquard/bridge/attic/info")["groups"] as? [String: [String]]
            }
            #expect(groups == nil)
            try await world.reload(WorldPlan(settings: "groups:\n  - {name: hall, tags: [0001]}"))
            try await until("the group") { groups == ["hall": ["0001"]] }
            try world.observer.publish("jacquard/group/hall/battery/get", "")
            try await until("the result") { !world.finals("jacquard/tag/0001/battery/result").isEmpty }
            let count = world.finals("jacquard/tag/0001/led/result").count
            try await world.reload(WorldPlan())
            try await until("no group") { groups == nil }
            try world.observer.publish("jacquard/group/hall/led/set", "flash")
            try await world.settled()
            #expect(world.finals("jacquard/tag/0001/led/result").count == count)
            #expect(try await world.client("led", "hall", "red").status == 1)
        }
    }

    @Test("completion prints keys, and the tags and groups of all bridges, and is silent without a broker")
    func completion() async throws {
        let settings = "groups:\n  - {name: hall, tags: [0001]}"
        try await inWorld(WorldPlan(tags: 2, options: ["--pairing"], tagList: "", settings: settings)) { world in
            #expect(try await world.client("pair", "0002").status == 0)
            // The configuration does not list it.
            let tags = try await world.client("complete", "tags", "--", "")
            #expect(tags.status == 0 && tags.printed == "0002\nall\nhall\n", "\(tags.printed)")
            #expect(try await world.client("complete", "tag", "--", "00").printed == "0002\n")
            try await world.stopBroker()
            let alone = try await world.client("complete", "tags", "--", "h")
            #expect(alone.status == 0 && alone.printed == "hall\n", "\(alone.printed)")
            let broken = try world.folder.write("broken.yaml", "mqtt: [")
            let silent = try await world.client("complete", "tags", "--config", broken, "--", "h")
            #expect(silent.status == 0 && silent.printed.isEmpty, "\(silent.printed)")
            #expect(try await world.client("complete", "keys", "--", "mqtt.po").printed == "mqtt.port\n")
            #expect(try await world.client("complete", "keys", "--", "mqtt.port,mqtt.po").printed.isEmpty)
            let list = try await world.client("complete", "keys", "--config", broken, "--", "log.level,mqtt.host")
            #expect(list.printed == "log.level,mqtt.host\nlog.level,mqtt.hosts\n", "\(list.printed)")
        }
    }
}
