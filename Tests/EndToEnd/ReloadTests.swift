import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Reload by SIGHUP")
struct ReloadTests {
    private static func tag(_ number: Int, _ rest: String = "") -> String {
        "  - serial: \(World.serial(number))\n\(rest)"
    }

    @Test("connects an added tag, disconnects a removed one, and keeps the connection of the third")
    func tags() async throws {
        try await inWorld(WorldPlan(tags: 3, tagList: Self.tag(1) + Self.tag(2))) { world in
            try await world.connected(1...2)
            world.observer.forget()
            try await world.reload(WorldPlan(tagList: Self.tag(2) + Self.tag(3)))
            try await until("the new one is connected") { world.isConnected("0003") }
            try await until("the other one's topics are empty") {
                ["availability", "connection", "battery", "battery/level", "gear", "info", "touch_mode", "led", "rssi"]
                    .allSatisfy { world.observer.latest("jacquard/tag/0001/\($0)") == "" }
            }
            #expect(world.observer.latest("homeassistant/device/jacquard_tag_0001/config") == "")
            #expect(world.observer.latest("homeassistant/device/jacquard_tag_0003/config")?.isEmpty == false)
            #expect(world.observer.payloads(of: "jacquard/tag/0002/availability").isEmpty, "nothing happened to it")
            #expect(world.observer.document(World.bridge + "/info")["tags"] as? [String] == ["0002", "0003"])
            #expect(World.code(of: try await world.command("jacquard/tag/0001/led/set", "flash")) == "unknown_tag")
            // The bond is still there: listed again, it is connected without being paired.
            try await world.reload(WorldPlan(tags: 3))
            try await until("it is back") { world.isConnected("0001") }
        }
    }

    @Test("replaces a tag whose address, id or serial changed")
    func otherTag() async throws {
        let address = "    address: F0:00:00:00:00:01\n"
        let lists = [
            (Self.tag(1, address), "0001"), (Self.tag(1), "0001"), (Self.tag(1, "    id: sleeve\n"), "sleeve"),
            (Self.tag(2, "    id: sleeve\n"), "sleeve"),
        ]
        try await inWorld(WorldPlan(tags: 2, tagList: Self.tag(1))) { world in
            try await world.connected()
            for (list, id) in lists {
                world.observer.forget()
                try await world.reload(WorldPlan(tagList: list))
                try await until("\(id) is connected as \(list)") { world.isConnected(id) }
                try await world.succeeds("jacquard/tag/\(id)/led/set", "flash")
            }
            #expect(world.observer.document("jacquard/tag/sleeve/info")["serial"] as? String == "0002")
            #expect(world.told("connected").map { $0["tag"] as? String } == ["0001", "0001", "0001", "0001", "0002"])
        }
    }

    @Test("keeps two tags apart whose ids differ only in their bytes, as a restart does")
    func exactIDs() async throws {
        let ids = ["\u{E9}", "e\u{301}"]
        try await inWorld(WorldPlan(tags: 3, tagList: Self.tag(3))) { world in
            try await world.connected(3...3)
            try await world.stopDaemon()
            let tags = zip(1...2, ids).map { number, id in
                #"{"serial":"\#(World.serial(number))","id":"\#(id)","held":false,"paired":true}"#
            }
            _ = try world.folder.write("tags.json", #"{"version":1,"tags":[\#(tags.joined(separator: ","))]}"#)
            try world.restartDaemon()
            try await until("both are connected") { ids.allSatisfy { world.isConnected($0) } }
            try await world.reload(WorldPlan(tagList: Self.tag(3, "    name: Collar\n")))
            for (number, id) in zip(1...2, ids) {
                try await world.succeeds("jacquard/tag/\(id)/led/set", "flash")
                #expect(world.told("led").last?["tag"] as? String == World.serial(number))
            }
            #expect(world.told("connected").count == 4, "three after the restart, none at the reload")
            try await world.logs("the configuration was read again, and differs count=1")
        }
    }

    @Test("renames a tag without interrupting its connection")
    func name() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.reload(WorldPlan(tagList: Self.tag(1, "    name: Collar\n")))
            try await until("the name") {
                world.observer.document("jacquard/tag/0001/info")["name"] as? String == "Collar"
            }
            try await until("the name in the announcement") {
                world.observer.latest("homeassistant/device/jacquard_tag_0001/config")?.contains("Collar") == true
            }
            try await until("the report of the simulator") { world.told("connected").count == 1 }
            #expect(world.isConnected("0001"))
            try await world.logs("a tag has other settings tag=0001")
        }
    }

    @Test("removes announcements, and publishes them in the other form, those of an added tag in the new form only")
    func discovery() async throws {
        try await inWorld(WorldPlan(tags: 2, tagList: Self.tag(1))) { world in
            let device = "homeassistant/device/jacquard_tag_0001/config"
            try await until("it is announced") { world.observer.latest(device)?.isEmpty == false }
            try await world.reload(WorldPlan(settings: "home_assistant:\n  discovery: false"))
            try await until("the announcement is gone") { world.observer.latest(device) == "" }
            try await world.reload(WorldPlan(settings: "home_assistant:\n  form: single"))
            @LoopActor func isAnnounced(_ tag: String) -> Bool {
                world.observer.latest("homeassistant/sensor/jacquard_tag_\(tag)/battery/config")?.isEmpty == false
            }
            try await until("it is announced in the other form") { isAnnounced("0001") }
            try await world.reload(WorldPlan(tagList: Self.tag(1)))
            try await until("it is announced in the first form") { world.observer.latest(device)?.isEmpty == false }
            try await world.reload(
                WorldPlan(tagList: Self.tag(1) + Self.tag(2), settings: "home_assistant:\n  form: single"))
            try await until("both are announced in the other form") { isAnnounced("0001") && isAnnounced("0002") }
            #expect(world.observer.payloads(of: "homeassistant/device/jacquard_tag_0002/config").isEmpty)
        }
    }

    @Test("keeps the old configuration and logs every error of a broken one")
    func broken() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.reload("mqtt:\n  port: 99999\nlgo:\n  level: debug\n")
            try await world.logs("mqtt.port")
            try await world.logs("lgo")
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            try FileManager.default.removeItem(atPath: world.folder.path + "/config.yaml")
            let lines = world.daemon.printed.count
            world.daemon.signal(SIGHUP)
            try await until("that there is no file") {
                world.daemon.printed.dropFirst(lines).contains("cannot be read")
            }
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
        }
    }

    @Test("connects to another broker, and publishes offline at the old one")
    func broker() async throws {
        try await inWorld { world in
            try await world.connected()
            let other = try await PrivateBroker()
            let observer = try await Observer(port: other.port)
            try await world.reload(WorldPlan().configuration(port: other.port))
            try await until("all facts at the other broker") {
                observer.latest(World.bridge + "/state") == "online"
                    && observer.latest("jacquard/tag/0001/availability") == "online"
            }
            try await until("goodbye") { world.observer.payloads(of: World.bridge + "/state").contains("offline") }
            try await until("the report of the simulator") { world.told("connected").count == 1 }
            await observer.stop()
        }
    }

    @Test("gives each command one final result, at the broker that it came from")
    func results() async throws {
        try await inWorld(WorldPlan(tagList: Self.tag(1) + Self.tag(2))) { world in
            try await world.connected()
            let other = try await PrivateBroker()
            let observer = try await Observer(port: other.port)
            let (led, pair) = ("jacquard/tag/0002/led/result", World.bridge + "/response/pair")
            try world.observer.publish("jacquard/tag/0002/led/set", #"{"state":"ON","id":"waiting"}"#)
            try world.observer.publish(World.bridge + "/request/pair", #"{"serial":"0003","timeout_s":3,"id":"sent"}"#)
            try await until("both are accepted") {
                world.observer.latest(led) != nil && world.observer.latest(pair) != nil
            }
            try await world.reload(WorldPlan(tagList: Self.tag(1) + Self.tag(2)).configuration(port: other.port))
            for (topic, code) in [(led, "tag_offline"), (pair, "link_lost")] {
                try await until("the result on \(topic)") { world.finals(topic).count == 1 }
                #expect(World.code(of: world.finals(topic)[0]) == code)
            }
            try await until("the pairing has ended") {
                observer.document(World.bridge + "/pairing")["state"] as? String == "failed"
            }
            #expect(world.finals(led).count == 1 && world.finals(pair).count == 1)
            #expect(observer.payloads(of: led).isEmpty && observer.payloads(of: pair).isEmpty)
            await observer.stop()
        }
    }

    @Test("changes the log level, and logs what applies at the next start")
    func level() async throws {
        try await inWorld { world in
            try await world.connected()
            let plan = WorldPlan(mqtt: ["base_topic: other"], settings: "bluetooth:\n  reset_adapter: true")
            try await world.reload(
                plan.configuration(port: world.broker.port).replacing("level: debug", with: "level: notice"))
            try await until("what has to wait") { world.daemon.printed.contains("setting=bluetooth.reset_adapter") }
            try await world.logs("setting=mqtt.base_topic")
            try await world.logs("the log level has changed state=notice")
            let before = world.daemon.printed.count
            try await world.settled()
            #expect(!world.daemon.printed.dropFirst(before).contains("debug "))
        }
    }

    @Test("notifies the service manager of a reload and of its end")
    func serviceManager() async throws {
        try await inWorld { world in
            let socket = try NotifySocket(in: world.folder.path)
            try await world.stopAndStartDaemon(with: ["NOTIFY_SOCKET": socket.path])
            try await until("it is ready") { socket.received.contains("READY=1") }
            let before = Self.monotonicMicroseconds
            world.daemon.signal(SIGHUP)
            try await until("it is ready again") { socket.received.filter { $0 == "READY=1" }.count == 2 }
            let after = Self.monotonicMicroseconds
            let reloading = try #require(socket.received.first { $0.hasPrefix("RELOADING=1\n") })
            let time = try #require(
                reloading.split(separator: "\n").last?.split(separator: "=").last.flatMap { UInt64($0) })
            #expect(reloading.contains("MONOTONIC_USEC=") && (before...after).contains(time))
        }
    }

    private static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)
    }

    @Test("has no effect during shutdown")
    func ending() async throws {
        try await inWorld { world in
            let socket = try NotifySocket(in: world.folder.path)
            try await world.stopAndStartDaemon(with: ["NOTIFY_SOCKET": socket.path])
            let metrics = world.folder.path + "/a.prom"
            let plan = WorldPlan(settings: "metrics:\n  file: \(metrics)")
            _ = try world.folder.write("config.yaml", plan.configuration(port: world.broker.port))
            // A broker that does not answer makes the end last.
            world.broker.daemon.signal(SIGSTOP)
            world.daemon.signal(SIGTERM)
            try await until("the end has begun") { socket.received.last == "STOPPING=1" }
            world.daemon.signal(SIGHUP)
            try await until("the end") { !world.daemon.isRunning }
            #expect(socket.received.last == "STOPPING=1")
            #expect(!FileManager.default.fileExists(atPath: metrics))
        }
    }
}
