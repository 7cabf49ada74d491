import JSON
import Testing
import Time

@testable import BridgeClient

@Suite("A checkup")
struct CheckupTests {
    private static let start = Instant(sinceBoot: .seconds(100))
    private static let facts = CheckupFacts([
        "availability": "online", "gear": ["attached": true, "capabilities": ["gesture"]],
        "info": ["tag_name": "Sleeve"],
    ])

    private static let battery = CheckupStep(
        name: "battery", title: "battery", work: .command("battery/get", [:]),
        judge: { result, _ in
            result["status"] == "ok"
                ? .works("fine") : result["status"] == "error" ? CheckupVerdict(failure: result) : nil
        })
    private static let gesture = CheckupStep(
        name: "brush_in", title: "gesture", instruction: "Brush", work: .observe("gesture"), limit: .seconds(30),
        judge: { message, _ in message["event_type"] == "brush_in" ? .works("") : nil })
    private static let name = CheckupStep(
        name: "name", title: "name", work: .look,
        judge: { _, facts in .works(facts["info"]?["tag_name"]?.string ?? "") })
    private static let led = CheckupStep(
        name: "led", title: "LED", question: "Green?", contradiction: "dark", work: .command("led/set", [:]),
        judge: { _, _ in .works("") })

    private static func checkup(_ steps: [CheckupStep], isInteractive: Bool = true) -> Checkup {
        Checkup(facts, steps: steps, isInteractive: isInteractive, idPrefix: "a")
    }

    @Test("sends a command, and judges its result by the id")
    func command() {
        var checkup = Self.checkup([Self.battery])
        #expect(checkup.handle(.begin, at: Self.start) == [.send("battery/get", ["id": "a-1"])])
        #expect(checkup.deadline == Self.start + .seconds(45))
        #expect(checkup.handle(.message("battery/result", ["id": "b", "status": "ok"]), at: Self.start) == [])
        #expect(checkup.handle(.message("led/result", ["id": "a-1", "status": "ok"]), at: Self.start) == [])
        #expect(checkup.handle(.message("battery/result", ["id": "a-1", "status": "accepted"]), at: Self.start) == [])
        let result: JSONValue = ["id": "a-1", "status": "ok", "took_ms": 21]
        #expect(checkup.handle(.message("battery/result", result), at: Self.start) == [.done])
        #expect(
            checkup.findings == [
                CheckupFinding(name: "battery", title: "battery", verdict: .works("fine"), milliseconds: 21)
            ])
        #expect(checkup.deadline == nil)
    }

    @Test(
        "distinguishes a missing feature from a different one",
        arguments: [
            ("unsupported", "missing"), ("timeout", "missing"), ("tag_error", "differs"),
            ("internal", "differs"),
        ])
    func failures(code: String, word: String) {
        var checkup = Self.checkup([Self.battery])
        _ = checkup.handle(.begin, at: Self.start)
        let result: JSONValue = [
            "id": "a-1", "status": "error", "error": ["code": .string(code), "text": "no"],
        ]
        #expect(checkup.handle(.message("battery/result", result), at: Self.start) == [.done])
        #expect(checkup.findings.map(\.verdict.word) == [word] && checkup.findings[0].verdict.detail == "no")
    }

    @Test("asks the owner for an action, and waits for the message")
    func observation() {
        var checkup = Self.checkup([Self.gesture])
        #expect(checkup.handle(.begin, at: Self.start) == [.say("Brush. You have 30 s; Enter skips this.")])
        #expect(checkup.handle(.message("gesture", ["event_type": "cover"]), at: Self.start) == [])
        let later = Self.start + .seconds(2)
        #expect(checkup.handle(.message("gesture", ["event_type": "brush_in"]), at: later) == [.done])
        #expect(checkup.findings.map(\.milliseconds) == [2_000])
    }

    @Test("counts ten slides, and says how many there were at the time limit", arguments: [10, 3])
    func slides(count: Int) throws {
        let step = try #require(CheckupTable.steps.first { $0.name == "slides" })
        var checkup = Checkup(
            CheckupFacts([
                "availability": "online", "gear": ["attached": true], "touch_mode/result": ["status": "ok"],
            ]), steps: [step], isInteractive: true, idPrefix: "a")
        var now = Self.start
        var actions = checkup.handle(.begin, at: now)
        #expect(actions.count == 1)
        for _ in 0..<count {
            for line in [2, 2, 2, 4, 6, 8, 8] + [Int](repeating: 12, count: 6) {
                var lines = [JSONValue](repeating: 0, count: 12)
                if line < 12 { lines[line] = 90 }
                actions += checkup.handle(.message("touch", ["proximity": 0, "lines": .array(lines)]), at: now)
                now = now + .milliseconds(40)
            }
        }
        if count < 10 { actions += checkup.handle(.deadlineReached, at: Self.start + .seconds(60)) }
        let text = "\(count) slides between 18 and 73 of 100, \(count == 10 ? 128 : 39) samples"
        #expect(actions.last == .done)
        #expect(checkup.findings.map(\.verdict) == [count == 10 ? .works(text) : .differs(text)])
    }

    @Test("ends a step at its time limit, and at Enter")
    func ends() {
        var checkup = Self.checkup([Self.gesture, Self.gesture, Self.battery])
        _ = checkup.handle(.begin, at: Self.start)
        #expect(checkup.handle(.deadlineReached, at: Self.start + .seconds(30)).count == 1)
        #expect(checkup.handle(.line(""), at: Self.start + .seconds(31)) == [.send("battery/get", ["id": "a-1"])])
        // A command is not skipped by Enter.
        #expect(checkup.handle(.line(""), at: Self.start + .seconds(32)) == [])
        #expect(checkup.handle(.deadlineReached, at: Self.start + .seconds(76)) == [.done])
        #expect(
            checkup.findings.map(\.verdict) == [
                .missing("nothing was received within 30 s"), .skipped("by you"), .missing("no response within 45 s"),
            ])
    }

    @Test(
        "asks the owner whether a success could be seen", arguments: [("y", "works"), ("", "works"), ("no", "differs")])
    func question(line: String, word: String) {
        var checkup = Self.checkup([Self.led])
        _ = checkup.handle(.begin, at: Self.start)
        #expect(
            checkup.handle(.message("led/result", ["id": "a-1", "status": "ok"]), at: Self.start) == [
                .say("Green? Type y or n; Enter skips this.")
            ])
        #expect(checkup.handle(.line(line), at: Self.start) == [.done])
        #expect(checkup.findings.map(\.verdict.word) == [word])
    }

    @Test("needs neither hands nor eyes without prompts")
    func silent() {
        var checkup = Self.checkup([Self.gesture, Self.led, Self.name], isInteractive: false)
        #expect(checkup.handle(.begin, at: Self.start) == [.send("led/set", ["id": "a-1"])])
        #expect(checkup.handle(.message("led/result", ["id": "a-1"]), at: Self.start) == [.done])
        #expect(
            checkup.findings.map(\.verdict) == [.skipped("needs your hands"), .works(""), .works("Sleeve")])
    }

    @Test("skips the rest when it is ended, and restores what it has changed")
    func interruption() {
        var checkup = Checkup(Self.facts, isInteractive: false, idPrefix: "a")
        #expect(
            checkup.handle(.begin, at: Self.start) == [
                .send("connection/set", ["connection": "disconnect", "id": "a-1"])
            ])
        #expect(
            checkup.handle(.interrupted, at: Self.start) == [
                .send("connection/set", ["connection": "connect"]), .done,
            ])
        #expect(checkup.findings.count == CheckupTable.steps.count)
        #expect(checkup.findings.allSatisfy { $0.verdict == .skipped("the checkup was ended") })
        #expect(checkup.handle(.begin, at: Self.start) == [])
    }

    @Test("connects the tag at the end, until a connect has succeeded", arguments: [true, false])
    func repair(succeeds: Bool) {
        var checkup = Checkup(
            Self.facts, steps: Array(CheckupTable.steps.prefix(2)), isInteractive: false, idPrefix: "a")
        let topic = "connection/result"
        _ = checkup.handle(.begin, at: Self.start)
        let connect = checkup.handle(.message(topic, ["id": "a-1", "status": "ok"]), at: Self.start)
        #expect(connect == [.send("connection/set", ["connection": "connect", "id": "a-2"])])
        let repair: [Checkup.Action] = [.send("connection/set", ["connection": "connect"])]
        var stopped = checkup
        #expect(stopped.handle(.interrupted, at: Self.start) == repair + [.done])
        let result: JSONValue =
            succeeds
            ? ["id": "a-2", "status": "ok"] : ["id": "a-2", "status": "error", "error": ["code": "x", "text": "no"]]
        let end = checkup.handle(.message(topic, result), at: Self.start)
        #expect(end == (succeeds ? [] : repair) + [.done])
    }

    @Test("does not disconnect a tag that is disabled in the configuration")
    func disabled() {
        let facts = CheckupFacts(["connection": ["state": "disconnected", "why": "disabled in the configuration"]])
        var checkup = Checkup(
            facts, steps: Array(CheckupTable.steps.prefix(2)), isInteractive: false, idPrefix: "a")
        #expect(checkup.handle(.begin, at: Self.start) == [.done])
        #expect(
            checkup.findings.map(\.verdict)
                == Array(repeating: .skipped("the tag is disabled in the configuration"), count: 2))
    }

    @Test("says that the bridge has gone offline, which is not the owner's decision")
    func bridgeOffline() {
        var checkup = Self.checkup([Self.battery, Self.gesture])
        _ = checkup.handle(.begin, at: Self.start)
        #expect(checkup.handle(.bridgeOffline, at: Self.start) == [.done])
        #expect(
            checkup.findings.map(\.verdict) == [.skipped("the bridge is offline"), .skipped("the bridge is offline")])
    }

    @Test("skips what needs a connection or gear that is not there")
    func obstacles() {
        let facts = CheckupFacts(["availability": "offline"])
        var checkup = Checkup(facts, steps: Array(CheckupTable.steps.dropFirst(2)), isInteractive: true, idPrefix: "a")
        #expect(checkup.handle(.begin, at: Self.start) == [])
        #expect(checkup.deadline == Self.start + Checkup.returnLimit)
        #expect(checkup.handle(.deadlineReached, at: Self.start + Checkup.returnLimit) == [.done])
        #expect(checkup.findings.last?.verdict == .skipped("the tag does not sleep"))
        #expect(checkup.findings.dropLast().allSatisfy { $0.verdict == .skipped("the tag is not connected") })
        var withoutGear = Checkup(
            CheckupFacts(["availability": "online", "gear": ["attached": false]]),
            steps: CheckupTable.steps.filter { $0.name == "haptic" }, isInteractive: true, idPrefix: "a")
        #expect(withoutGear.handle(.begin, at: Self.start) == [.done])
        #expect(withoutGear.findings.map(\.verdict) == [.skipped("no gear is attached")])
    }

    @Test("repeats a command once if the connection is lost, and waits for the tag and its gear first")
    func lostConnection() {
        var checkup = Self.checkup([Self.battery, Self.name])
        _ = checkup.handle(.begin, at: Self.start)
        let lost: JSONValue = ["id": "a-1", "status": "error", "error": ["code": "link_lost", "text": "lost"]]
        _ = checkup.handle(.message("availability", "offline"), at: Self.start)
        #expect(checkup.handle(.message("battery/result", lost), at: Self.start) == [])
        #expect(checkup.handle(.message("availability", "online"), at: Self.start + .seconds(3)) == [])
        #expect(checkup.deadline == Self.start + .seconds(3) + Checkup.gearLimit)
        #expect(checkup.handle(.message("gear", ["attached": true, "firmware": .null]), at: Self.start) == [])
        let again = checkup.handle(.message("gear", ["attached": true, "firmware": "1.2.3"]), at: Self.start)
        #expect(again == [.send("battery/get", ["id": "a-2"])])
        let second: JSONValue = ["id": "a-2", "status": "error", "error": ["code": "link_lost", "text": "lost"]]
        #expect(checkup.handle(.message("battery/result", second), at: Self.start) == [.done])
        #expect(checkup.findings.map(\.verdict) == [.missing("lost"), .works("Sleeve")])
    }

    @Test("goes on without a report of gear, and skips the rest if the tag does not come back")
    func noReturn() {
        var checkup = Self.checkup([Self.gesture, Self.battery, Self.name])
        _ = checkup.handle(.begin, at: Self.start)
        _ = checkup.handle(.message("availability", "offline"), at: Self.start)
        _ = checkup.handle(.message("availability", "online"), at: Self.start)
        #expect(checkup.handle(.line(""), at: Self.start) == [])
        #expect(checkup.handle(.deadlineReached, at: Self.start + .seconds(2)) == [.send("battery/get", ["id": "a-1"])])
        _ = checkup.handle(.message("availability", "offline"), at: Self.start)
        #expect(checkup.handle(.message("battery/result", ["id": "a-1", "status": "ok"]), at: Self.start) == [])
        #expect(checkup.handle(.interrupted, at: Self.start) == [.done])
        #expect(
            checkup.findings.map(\.verdict) == [
                .skipped("by you"), .works("fine"), .skipped("the checkup was ended"),
            ])
    }

    @Test("has a name and a title for each step")
    func table() {
        let names = CheckupTable.steps.map(\.name)
        #expect(Set(names).count == names.count && Set(CheckupTable.steps.map(\.title)).count == names.count)
    }

    /// Steps, messages, and the word of the verdict.
    private static let cases: [(String, JSONValue, String)] = [
        ("information", information("11-78-30-c8"), "works"), ("information", information("11-78-30-c9"), "differs"),
        ("information", result(["firmware": .null]), "differs"),
        ("battery", result(["level": 87, "charging": false]), "works"),
        ("battery", result(["level": 101, "charging": false]), "differs"), ("battery", result([:]), "differs"),
        ("modules", result(["modules": []]), "works"),
        ("modules", result(["modules": [["name": "IMUModule", "enabled": true]]]), "works"),
        (
            "modules", ["status": "error", "error": ["code": "tag_error", "text": "refused: ERROR_UNSUPPORTED"]],
            "missing"
        ),
        ("modules", ["status": "error", "error": ["code": "tag_error", "text": "refused: ERROR_BUSY"]], "differs"),
        ("rssi", result(["rssi": -60]), "works"), ("rssi", result(["rssi": 127]), "differs"),
        ("rssi", result([:]), "differs"), ("store_read", result(["type": "uint32", "value": 7]), "works"),
        ("store_read", result(["type": .null, "value": .null]), "differs"),
        ("touch", ["lines": [1, 2, 3]], "differs"),
        ("brush_in", ["event_type": "brush_out", "gesture": 3], "differs"),
        ("brush_in", ["event_type": "unknown", "gesture": 99], "differs"),
        ("attach", ["attached": true, "vendor_id": "a", "product_id": "b"], "differs"),
        ("attach", ["attached": true, "product": "Trucker Jacket"], "works"),
    ]

    @Test("judges values", arguments: cases)
    func judgements(step: String, message: JSONValue, word: String) throws {
        let step = try #require(CheckupTable.steps.first { $0.name == step })
        #expect(step.judge(message, Self.facts)?.word == word)
    }

    private static func result(_ data: JSONValue) -> JSONValue { ["status": "ok", "data": data] }

    private static func information(_ vendor: String) -> JSONValue {
        result(["firmware": "1.96.0", "vendor_id": .string(vendor), "product_id": "28-3b-e7-a0", "uuid": "u"])
    }
}
