import EventLoop
import Foundation
import JSON
import MQTTTypes
import TestSupport
import Testing
import Time

@Suite("Recorded events")
struct EventReplayTests {
    /// The recorded topics of the tags in ``play(in:)``.
    private static let kinds = [
        "gesture", "availability", "connection", "battery", "battery/level", "battery/forecast", "gear", "led",
        "touch_mode", "led/result", "battery/result", "reflex/result",
    ]
    private static let settings = """
        record:
          hours: 24
        chords:
          - name: cover_twice
            of: [cover, cover]
            within_ms: 5000
        reflexes:
          - on: double_tap
            do: led flash
        """

    @Test(
        "are published below another base topic with the same bytes in the same order, and hold no secret and no serial"
    )
    func replay() async throws {
        let passwordFolder = try ScratchFolder()
        let passwords = try await onLoop { try await passwordFolder.writePasswords(["bridge": "c0rrect-horse"]) }
        let plan = WorldPlan(
            tags: 3, mqtt: ["username: bridge", "password: c0rrect-horse"], settings: Self.settings,
            broker: ["allow_anonymous true", "password_file \(passwords)"])
        try await inWorld(plan) { world in
            try await world.connected(1...3)
            for tag in ["0001", "0002", "0003"] { try await world.settled(tag) }
            let before = world.observer.messages.count
            let start = WallClock.unixMilliseconds
            try await Self.play(in: world)
            try await world.endDaemon()
            let original = world.observer.messages
            let file = world.folder.path + "/events.ring"
            try Self.expectNothingPrivate(in: file)

            // The whole file. Before the first connection to the broker, only the latest facts are published.
            try await world.replay(file, to: "shadow/attic", "--speed", "10000")
            for tag in ["0001", "0002", "0003"] {
                for kind in Self.kinds where tag == "0001" || !kind.hasPrefix("reflex") {
                    let published = Self.payloads(original, "jacquard/tag/\(tag)/\(kind)")
                    let all = world.observer.payloads(of: "shadow/attic/tag/\(tag)/\(kind)")
                    let isFact = Self.isFact(kind)
                    // The last one removes the retained message.
                    let replayed = isFact ? all.dropLast() : all[...]
                    #expect(!isFact || all.last == "", "\(tag) \(kind)")
                    #expect(!published.isEmpty, "\(tag) \(kind)")
                    let isSame = isFact ? Self.isRecord(replayed, of: published) : published == Array(replayed)
                    #expect(isSame, "\(tag) \(kind): \(published) \(replayed)")
                }
            }

            // A part, with pauses.
            world.observer.forget()
            let begin = Instant.now
            try await world.replay(file, to: "shadow", "--from", TimeText.utc(start), "--speed", "8")
            let expected = original[before...].filter { Self.isRecorded($0.topic) }
            let span = Self.span(expected)
            #expect(Instant.now - begin >= .milliseconds(span / 8), "\(span)")
            let replayed = world.observer.messages.filter { $0.topic.hasPrefix("shadow/") && !$0.payload.isEmpty }
            let events = replayed.filter { !Self.isFact($0.topic) }
            let expectedEvents = expected.filter { !Self.isFact($0.topic) }
            #expect(events.map(\.payload) == expectedEvents.map(\.payload))
            #expect(events.map(\.topic) == expectedEvents.map { "shadow" + $0.topic.dropFirst("jacquard".count) })
            for topic in Set(expected.map(\.topic)).filter(Self.isFact) {
                let facts = Self.payloads(replayed, "shadow" + topic.dropFirst("jacquard".count))
                let published = Self.payloads(expected, topic)
                #expect(Self.isRecord(facts[...], of: published), "\(topic): \(published) \(facts)")
            }
            #expect(replayed.count > expected.count, "the facts at the start")

            // Without the table of tags.
            let copy = passwordFolder.path + "/yesterday.ring"
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            try await world.replay(copy, to: "other", "--speed", "10000")
            let levels = Set(
                world.observer.messages.filter { $0.topic.hasPrefix("other/") }.map {
                    $0.topic.split(separator: "/")[2]
                })
            #expect(levels == ["tag-1", "tag-2", "tag-3"])
            #expect(world.observer.payloads(of: "other/tag/tag-1/gesture").count > 10)
            let others = try await world.retainedTopics().filter {
                !$0.hasPrefix("jacquard/") && !$0.hasPrefix("homeassistant/")
            }
            #expect(others == [])
        }
    }

    @Test("are not recorded without the key, and not replayed below the bridge's own base topic or from another file")
    func refused() async throws {
        try await inWorld { world in
            try await world.connected()
            let foreign = try world.folder.write("foreign", "SQLite format 3")
            for (arguments, status) in [
                ([foreign, "--to", "jacquard"], 2), ([foreign, "--to", "jacquard/x"], 2),
                ([foreign, "--to", "homeassistant"], 2), ([foreign, "--to", "a/#"], 2), ([foreign], 2), ([], 2),
                ([foreign, "--to", "shadow"], 1), ([foreign + "x", "--to", "shadow"], 1),
                ([foreign, "--to", "shadow", "--speed", "0"], 2), ([foreign, "--to", "shadow", "--from", "noon"], 2),
                ([foreign, "--to", "shadow", "--from", "2026-11-20", "--until", "2026-11-19"], 2),
            ] as [([String], Int32)] {
                let (actual, printed) = try await world.run(
                    Program.buildFolder + "/jacquard2mqtt", ["replay-events"] + arguments)
                #expect(actual == status, "\(arguments): \(printed)")
            }
            #expect(!world.observer.messages.contains { $0.topic.hasPrefix("shadow") })
            let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
            #expect(!names.contains { $0.hasPrefix("events") }, "\(names)")
        }
    }

    /// Gestures, chords, reflexes, commands that succeed and fail, battery levels, gear, and a lost tag.
    @LoopActor
    private static func play(in world: World) async throws {
        for round in 0..<12 {
            for tag in ["0001", "0002", "0003"]
            where (tag != "0002" || !(3...5).contains(round)) && (tag != "0003" || round < 9) {
                try await world.simulate("gesture \(tag) \(round.isMultiple(of: 2) ? "cover" : "brush_in")")
            }
            try await world.simulate("battery \(["0001", "0002", "0003"][round % 3]) \(90 - round)")
            if round == 2 { try await world.simulate("detach 0002") }
            if round == 3 {
                #expect(
                    try await world.command("jacquard/tag/0002/haptic/set", "short")["status"] as? String == "error")
            }
            if round == 5 { try await world.simulate("attach 0002 jacket") }
            if round == 8 { try await world.simulate("out-of-range 0003") }
        }
        try await world.simulate("gesture 0001 cover")
        try await world.simulate("gesture 0001 cover")
        try await world.simulate("gesture 0001 double_tap")
        for tag in ["0001", "0002"] { try await world.succeeds("jacquard/tag/\(tag)/led/set", "flash") }
        try await until("the tag is lost") { !world.isConnected("0003") }
        let result = try await world.command("jacquard/tag/0003/led/set", #"{"color":"red","ttl_ms":0,"id":"0003"}"#)
        #expect(result["status"] as? String == "error")
        try await world.simulate("in-range 0003")
        try await world.connected(1...3)
        try await until("the reflex and the chord") {
            world.observer.latest("jacquard/tag/0001/reflex/result") != nil
                && world.observer.payloads(of: "jacquard/tag/0001/gesture").contains { $0.contains("cover_twice") }
        }
    }

    private static func isRecorded(_ topic: String) -> Bool {
        let levels = topic.split(separator: "/", maxSplits: 3).map(String.init)
        return levels.count == 4 && levels[0] == "jacquard" && levels[1] == "tag"
            && (kinds + ["haptic/result"]).contains(levels[3])
    }

    private static func isFact(_ topic: String) -> Bool {
        !topic.hasSuffix("gesture") && !topic.hasSuffix("/result")
    }

    /// Whether all published values of a fact were recorded, in the same order. More may have been recorded: a value that is
    /// replaced before the broker has received it is not published.
    private static func isRecord(_ recorded: ArraySlice<String>, of published: [String]) -> Bool {
        var rest = published[...]
        for value in recorded where value == rest.first { rest.removeFirst() }
        return rest.isEmpty && recorded.last == published.last
    }

    private static func payloads(_ messages: [MQTTMessage], _ topic: String) -> [String] {
        messages.filter { $0.topic == topic }.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    /// The time between the first and the last gesture, in milliseconds.
    private static func span(_ messages: [MQTTMessage]) -> Int64 {
        let times = messages.filter { $0.topic.hasSuffix("/gesture") }.compactMap { message in
            JSONValue(parsing: message.payload)?["time"]?.string.flatMap { TimeText.unixMilliseconds($0) }
        }
        return (times.last ?? 0) - (times.first ?? 0)
    }

    private static func expectNothingPrivate(in file: String) throws {
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
        #expect(text.contains("double_tap") && text.contains("is not connected"))
        for word in ["c0rrect-horse", "Jacquard-", "F0:00", "F0_00"] { #expect(!text.contains(word), "\(word)") }
        for serial in ["0001", "0002", "0003"] {
            #expect(text.firstMatch(of: try Regex("(^|[^0-9A-Za-z:.-])\(serial)([^0-9A-Za-z]|$)")) == nil, "\(serial)")
        }
    }
}

extension World {
    /// Ends the daemon as a service manager does. The observer keeps its messages.
    fileprivate func endDaemon() async throws {
        daemon.signal(SIGTERM)
        try await until("the daemon's end") { !daemon.isRunning }
        try await until("goodbye") { observer.latest(Self.bridge + "/state") == "offline" }
    }

    fileprivate func replay(_ file: String, to base: String, _ options: String...) async throws {
        let (status, printed) = try await run(
            Program.buildFolder + "/jacquard2mqtt", ["replay-events", file, "--to", base] + options)
        #expect(status == 0, "\(printed)")
        try await observer.catchUp()
    }
}
