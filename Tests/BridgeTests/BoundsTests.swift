import JacquardProtocol
import Testing

@testable import Bridge

@Suite("Bounds of what a peer can make grow")
struct BoundsTests {
    private static let now = Scene.beginning.instant
    private static let led = "tag/003R/led/set"

    @Test("stored results take at most 2 MiB: the oldest go first, the newest stays")
    func storedResults() {
        var answered = AnsweredCommands()
        func key(_ number: Int) -> AnsweredCommands.Key { .init(resultTopic: "t", id: "\(number)") }
        for number in 0..<5_000 {
            answered.store([UInt8](repeating: 1, count: 40_000), for: key(number), at: Self.now)
        }
        let kept = (0..<5_000).count { answered.result(for: key($0), at: Self.now) != nil }
        #expect((10...52).contains(kept))
        #expect(answered.result(for: key(4_999), at: Self.now) != nil)
        answered.store([UInt8](repeating: 1, count: 3 << 20), for: key(5_000), at: Self.now)
        #expect(answered.result(for: key(5_000), at: Self.now) != nil)
        #expect(answered.result(for: key(4_999), at: Self.now) == nil)
    }

    @Test("what other bridges say takes a fixed room: more than 16,384 tags of all of them are not remembered")
    func neighbours() {
        var scene = Scene.connected()
        for number in 0..<256 {
            let tags = (0..<4_000).map { #""\#(number)-\#($0)""# }.joined(separator: ",")
            scene.send("bridge/z\(number)/state", "online")
            scene.send("bridge/z\(number)/info", #"{"tags":[\#(tags)]}"#)
        }
        let remembered = (0..<256).count { scene.send("tag/\($0)-0/led/set", "on").isEmpty }
        #expect((1...4).contains(remembered))
    }

    @Test("commands that may wait for long leave room for others")
    func longWaiting() {
        var scene = Scene()
        func codes(_ count: Int, ttl: Int) -> [String?] {
            let before = scene.results.count
            for _ in 0..<count { scene.send(Self.led, #"{"state":"ON","ttl_ms":\#(ttl)}"#) }
            return scene.results.dropFirst(before).map(\.error?.code)
        }
        #expect(codes(32, ttl: 86_400_000) == Array(repeating: "busy", count: 16))
        #expect(codes(16, ttl: 600_000) == Array(repeating: "busy", count: 8))
        #expect(codes(9, ttl: 60_000) == ["busy"])
        scene.wait(.seconds(60))
        #expect(codes(8, ttl: 60_000) == [])
    }

    @Test("commands with a long time are all taken while their tag is there")
    func longButSent() {
        var scene = Scene.connected()
        for _ in 0..<32 { scene.send(Self.led, #"{"state":"ON","ttl_ms":86400000}"#) }
        #expect(scene.performed.count == 32)
        #expect(scene.results.isEmpty)
    }

    @Test("a tag has at most 128 discovery topics of earlier runs")
    func leftovers() {
        var scene = Scene.announcing(tags: [.tag003R])
        scene.begin()
        for number in 0..<20_000 {
            scene.hear(
                "homeassistant/light/jacquard_tag_003R/x\(number)/config", #"{"migrate_discovery":true}"#,
                isRetained: true)
        }
        let lines = scene.wait(.seconds(1))
        #expect(lines.count { $0.hasSuffix(#" {"migrate_discovery":true}"#) } == 128)
    }

    @Test("clearing a topic costs the same however many there are")
    func clearing() {
        var outbox = Outbox(window: 50_000)
        _ = outbox.connected(at: Self.now)
        var tickets: [UInt64] = []
        for number in 0..<50_000 {
            tickets += outbox.submit(.noFact("t/\(number)"), at: Self.now).compactMap(\.ticket)
        }
        let duration = ContinuousClock().measure {
            for ticket in tickets { _ = outbox.acknowledged(ticket, at: Self.now) }
        }
        #expect(duration < .seconds(5))
        _ = outbox.connected(at: Self.now)
        #expect(outbox.queued == 0)
    }

    @Test("a Home Assistant that starts again and again gets one answer at a time")
    func reminders() {
        var scene = Scene.announced()
        let before = scene.publications.count
        for _ in 0..<1_000 {
            scene.hear("homeassistant/status", "online")
            scene.wait(.milliseconds(1))
        }
        scene.wait(.seconds(10))
        let bridges = scene.publications[before...].count {
            $0.topic == "homeassistant/device/jacquard_bridge_attic/config"
        }
        #expect(bridges == 2)
    }
}
