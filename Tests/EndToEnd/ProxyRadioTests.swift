import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("A proxy of ESPHome as radio")
struct ProxyRadioTests {
    /// Base64 of the bytes 0 to 31.
    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private static let otherKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    private static func plan(_ port: ReservedPort, key: String?, _ more: [String] = []) -> WorldPlan {
        let keyFile = key.map { "key_file: \($0)" } ?? "insecure: true"
        return WorldPlan(
            options: ["--esphome", "\(port.number)"] + more,
            settings: """
                bluetooth:
                  radios:
                    - {esphome: "127.0.0.1:\(port.number)", name: loft, \(keyFile), dedicated: true}
                """)
    }

    @LoopActor
    private static func works(_ world: World) async throws {
        try await world.connected()
        let connection = world.observer.document("jacquard/tag/0001/connection")
        #expect(connection["radio"] as? String == "loft")
        let gestures = world.observer.payloads(of: "jacquard/tag/0001/gesture").count
        try await world.simulate("gesture 0001 double_tap")
        try await until("the gesture") {
            world.observer.payloads(of: "jacquard/tag/0001/gesture").count == gestures + 1
        }
        try await world.succeeds("jacquard/tag/0001/led/set", "flash")
    }

    @Test("an encrypted one carries values and commands, comes back after a loss, and is not fought for if taken")
    func encrypted() async throws {
        let (folder, port) = (try ScratchFolder(), try ReservedPort())
        let file = try folder.write("loft.key", Self.key + "\n")
        try await inWorld(Self.plan(port, key: file, ["--esphome-key", file])) { world in
            try await Self.works(world)
            #expect(world.observer.latest(World.bridge + "/adapter")?.contains(#""free_links":2"#) == true)
            try await world.simulate("esphome drop")
            try await until("the loss of the radio") { world.problems.contains("radio_lost") }
            try await until("the radio", within: .seconds(30)) { world.problems.isEmpty }
            try await Self.works(world)
            try await world.simulate("esphome taken")
            try await until("the other client", within: .seconds(40)) { world.problems.contains("radio_taken") }
            let health = world.observer.latest(World.bridge + "/health") ?? ""
            #expect(health.contains("Radio loft is in use by another program") && health.contains("restart the bridge"))
            let lines = world.daemon.printed.split(separator: "\n")
            #expect(lines.last { $0.contains("connection to the proxy failed") }?.contains("3600000") == true)
            let published = world.observer.messages.map { String(decoding: $0.payload, as: UTF8.self) }
            #expect(!(published + [world.daemon.printed]).contains { $0.contains(Self.key) })
            try await world.simulate("esphome clear")
            try await world.stopAndStartDaemon()
            try await Self.works(world)
        }
    }

    @Test("a plain one does the same")
    func plain() async throws {
        try await inWorld(Self.plan(try ReservedPort(), key: nil)) { world in
            try await Self.works(world)
            try await world.simulate("esphome slots 1")
            try await until("no free link") {
                world.observer.latest(World.bridge + "/adapter")?.contains(#""free_links":0"#) == true
            }
        }
    }

    @Test("a wrong key is a problem that says what to do, in health and in the log, and no bond is lost by a restart")
    func wrongKey() async throws {
        let (folder, port) = (try ScratchFolder(), try ReservedPort())
        let right = try folder.write("right.key", Self.key)
        let used = try folder.write("used.key", Self.otherKey)
        var plan = Self.plan(port, key: used, ["--esphome-key", right, "--pairing"])
        (plan.isBridgeExpected, plan.tagList) = (false, "")
        try await inWorld(plan) { world in
            try await until("the problem") { world.problems.contains("radio_lost") }
            let text = "the proxy has another key; copy the key of its ESPHome configuration"
            #expect(world.observer.latest(World.bridge + "/health")?.contains(text) == true)
            try await world.logs(text)
            #expect(!world.daemon.printed.contains(Self.otherKey))
            _ = try folder.write("used.key", Self.key)
            try await world.stopAndStartDaemon()
            try await world.succeeds(World.bridge + "/request/pair", "0001")
            try await Self.works(world)
            try await world.stopAndStartDaemon()
            try await Self.works(world)
            try await until("the bond") {
                world.observer.latest("jacquard/tag/0001/radios")?.contains(#""bonded":true"#) == true
            }
        }
    }
}
