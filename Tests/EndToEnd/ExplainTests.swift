import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("explain names the stage of a gesture or command that")
struct ExplainTests {
    private static let gesture = "jacquard/tag/0001/gesture"
    private static let led = "jacquard/tag/0001/led/set"

    @Test("went through: received, queued, written, acknowledged")
    func healthy() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("gesture 0001 brush_in")
            try await until("the gesture") { world.observer.latest(Self.gesture) != nil }
            try await world.succeeds(Self.led, "flash")
            let lines = try await world.explain("0001")
            #expect(lines.contains { $0.contains(/0001 brush in 1: queued after .* ms, written after .* ms, ack/) })
            #expect(lines.contains { $0.contains(/0001 led\/set: sent to the tag after .* ms, answered after .* ms/) })
            let times = try await world.succeeds("\(World.bridge)/request/trace", #"{"tag":"0001","seq":1}"#)
            let trace = (times["gestures"] as? [[String: Any]])?.first ?? [:]
            let stages = ["read_us", "reassembled_us", "queued_us", "written_us", "ended_us"].compactMap {
                trace[$0] as? Int
            }
            #expect(stages.count == 5 && stages == stages.sorted(), "\(trace)")
            #expect(trace["stage"] as? String == "acknowledged" && trace["reason"] as? Int == 0)
            let program = Program.buildFolder + "/jacquard2mqtt"
            let (status, printed) = try await world.run(program, ["explain", "0001", "7"])
            #expect(status == 1 && printed.contains(Self.absent), "\(printed)")
        }
    }

    private static let absent =
        "There is no gesture 7 of 0001 among the last 1,024 gestures since the bridge was started"

    @Test(
        "waited for a stopped broker, or expired meanwhile",
        arguments: [
            ("300", "brush in 1: waited ", " for a connection to the broker, queued after "),
            ("0", "brush in 1: expired after ", ": it waited for a connection to the broker"),
        ])
    func brokerStopped(limit: String, begin: String, end: String) async throws {
        let settings = "limits:\n  gestures_while_broker_away_s: \(limit)"
        try await inWorld(settings: settings) { world in
            try await world.connected()
            try await world.stopBroker()
            try await until("the daemon knows") { world.daemon.printed.contains("no connection to the broker") }
            try await world.simulate("gesture 0001 brush_in")
            try await world.startBroker()
            try await until("the bridge is back") { world.observer.latest(World.bridge + "/state") == "online" }
            try await world.settled()
            let lines = try await world.explain("0001", "1")
            #expect(lines.count == 1)
            #expect(lines.contains { $0.contains(begin) && $0.contains(end) }, "\(lines)")
        }
    }

    @Test("the broker acknowledged late")
    func brokerSlow() async throws {
        try await inWorld { world in
            try await world.connected()
            world.broker.daemon.signal(SIGSTOP)
            try await world.simulate("gesture 0001 cover")
            let begin = ContinuousClock.now
            try await until("the broker is late") { .now - begin > .milliseconds(300) }
            world.broker.daemon.signal(SIGCONT)
            try await until("the gesture") { world.observer.payloads(of: Self.gesture).count == 1 }
            try await world.settled()
            let lines = try await world.explain("0001", "1")
            #expect(lines.count == 1)
            #expect(
                lines.contains { $0.contains(/written after .*, acknowledged after .*: the broker was slow, it took/) },
                "\(lines)")
        }
    }

    @Test("no client was subscribed to")
    func noSubscriber() async throws {
        let observed = ["jacquard/bridge/#", "jacquard/tag/+/connection", "jacquard/tag/+/availability"]
        let plan = WorldPlan(observed: observed + ["jacquard/tag/+/gear", "jacquard/tag/+/battery/result"])
        try await inWorld(plan) { world in
            try await world.connected()
            try await world.simulate("gesture 0001 brush_in")
            // The broker has acknowledged the gesture before it delivers the result, which was published after it.
            try await world.settled()
            let lines = try await world.explain("0001", "1")
            #expect(lines.count == 1)
            #expect(lines.contains { $0.hasSuffix(": no client is subscribed to its topic") })
        }
    }

    @Test("the broker's access list refused, with MQTT 5; MQTT 3.1.1 has no reasons", arguments: ["5", "3.1.1"])
    func accessList(version: String) async throws {
        let folder = try ScratchFolder()
        let file = try folder.write("acl", "topic readwrite #\ntopic deny \(Self.gesture)\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try await inWorld(WorldPlan(mqtt: ["version: \(version)"], broker: ["acl_file \(file)"])) { world in
            try await world.connected()
            try await world.simulate("gesture 0001 brush_in")
            try await world.settled()
            let lines = try await world.explain("0001", "1")
            #expect(lines.count == 1)
            let end = version == "5" ? "not authorized; allow the bridge to publish it" : "the broker gives no reason"
            #expect(lines.contains { $0.contains(end) }, "\(lines)")
        }
    }

    @Test("lost a fragment on the radio")
    func fragmentLost() async throws {
        try await inWorld(options: ["--mtu", "23"]) { world in
            try await world.connected()
            try await world.simulate("fault 0001 lost-fragment once")
            #expect(World.code(of: try await world.command("jacquard/tag/0001/info/get", "")) == "timeout")
            // The next response shows that the last fragment of the other one is missing.
            try await world.succeeds("jacquard/tag/0001/info/get")
            let lines = try await world.explain("0001")
            #expect(lines.contains { $0.contains("0001 lost a message: a fragment of it did not arrive") }, "\(lines)")
            #expect(lines.contains { $0.contains(/info\/get: sent to the tag after .*, failed after .*: timeout/) })
        }
    }

    @Test("repeats the id of another command")
    func duplicate() async throws {
        try await inWorld { world in
            try await world.connected()
            for _ in 1...2 { try await world.succeeds(Self.led, #"{"id":"a","state":"ON"}"#) }
            let lines = try await world.explain("0001").filter { $0.contains("(id a)") }
            #expect(lines.count == 2)
            #expect(lines.first?.contains("answered after") == true)
            #expect(lines.last?.contains("not executed: it has the id of an earlier command") == true)
            #expect(world.told("led").count == 1)
        }
    }

    @Test("found the tag asleep")
    func asleep() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("sleep 0001")
            try await until("it is away") { world.observer.latest("jacquard/tag/0001/availability") == "offline" }
            let result = try await world.command(Self.led, #"{"state":"ON","ttl_ms":300}"#)
            #expect(World.code(of: result) == "expired")
            let lines = try await world.explain("0001")
            #expect(lines.contains { $0.contains(/0001 disconnected.*; gestures were not received from then on/) })
            #expect(lines.contains { $0.contains(/led\/set: not sent, expired after .*: the tag was not connected/) })
            #expect(lines.last?.contains(/0001 is not connected since .*: it is asleep or out of range/) == true)
        }
    }

    @Test("has a traceparent in its message with MQTT 5, if telemetry.trace is set")
    func traceParent() async throws {
        for (version, settings, isExpected) in [
            ("5", "telemetry:\n  trace: true", true), ("3.1.1", "telemetry:\n  trace: true", false), ("5", "", false),
        ] {
            try await inWorld(WorldPlan(mqtt: ["version: \(version)"], settings: settings)) { world in
                try await world.connected()
                let arguments = ["-V", "5", "-p", "\(world.broker.port)", "-t", Self.gesture, "-t", "ready"]
                let subscriber = try Program("mosquitto_sub", arguments + ["-F", "%t [%P]"])
                try await until("the subscriber") {
                    try world.observer.publish("ready", "")
                    return subscriber.printed.contains("ready")
                }
                try await world.simulate("gesture 0001 brush_in")
                try await until("the gesture") { subscriber.printed.contains(Self.gesture) }
                let line = subscriber.printed.split(separator: "\n").last { $0.hasPrefix(Self.gesture) } ?? ""
                let trace = try await world.succeeds("\(World.bridge)/request/trace", #"{"tag":"0001","seq":1}"#)
                let id = (trace["gestures"] as? [[String: Any]])?.first?["trace"] as? String
                #expect((id != nil) == !settings.isEmpty)
                #expect(line.contains("traceparent:00-\(id ?? "")-") == isExpected, "\(line)")
                subscriber.signal(SIGTERM)
                try await until("its end") { subscriber.hasEnded }
            }
        }
    }
}

extension World {
    /// Runs `explain` and returns its lines.
    fileprivate func explain(_ arguments: String...) async throws -> [String] {
        let (status, printed) = try await run(Program.buildFolder + "/jacquard2mqtt", ["explain"] + arguments)
        #expect(status == 0, "\(printed)")
        return printed.split(separator: "\n").map(String.init)
    }
}
