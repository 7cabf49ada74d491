import FoundationEssentials
import JSON
import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("request/trace")
struct TraceRequestTests {
    private static let request = "bridge/attic/request/trace"

    /// Sends the request, and answers with the gestures of an outbox that has all publications.
    private func data(_ scene: Scene, _ payload: String = "", _ outbox: Outbox = Outbox()) throws -> JSONValue {
        scene.send(Self.request, payload)
        let query = try #require(scene.takeActions().compactMap(\.query).last)
        let lines = scene.done(.gestures(outbox.gestures(query)))
        let result = try #require(lines.last?.split(separator: " ", maxSplits: 1).last)
        return try #require(JSONValue(parsing: Array(result.utf8))?["data"])
    }

    @Test("answers with the stages of the gestures of all tags, or of one")
    func gestures() throws {
        let other = TagEntry(id: .known("0001"), serial: "0001")
        let scene = Scene.connected(tags: [.tag003R, other])
        var outbox = Outbox()
        for tag in [TagID.tag003R, .known("0001"), .tag003R] {
            scene.report(.gesture(.brushIn), of: tag)
            guard let publication = scene.publications.last(where: { $0.gesture.isGesture }) else { continue }
            _ = outbox.submit(publication, at: scene.now.instant)
            scene.wait(.milliseconds(500))
        }
        let all = try data(scene, "", outbox)["gestures"]?.elements ?? []
        #expect(all.map { $0["tag"]?.string } == ["003R", "0001", "003R"])
        #expect(all.map { $0["seq"]?.integer } == [1, 1, 2])
        let times = all.compactMap { $0["time"]?.string }
        #expect(times.map { $0.suffix(7) } == ["02.114Z", "02.614Z", "03.114Z"])
        #expect(all.allSatisfy { $0["event_type"] == "brush_in" && $0["stage"] == "waiting" && $0["trace"] == .null })
        let one = try data(scene, #"{"tag":"003R","seq":2}"#, outbox)
        #expect(one["gestures"]?.elements?.map { $0["seq"]?.integer } == [2])
        #expect(one["incidents"] == .array([]))
        #expect(one["tags"]?.elements?.map { $0["id"]?.string } == ["003R"])
    }

    @Test("has the names of chords, and when a gesture was made that was held back for one")
    func chords() throws {
        let scene = Scene.connected()
        var outbox = Outbox()
        var configuration = scene.state.configuration
        configuration.options.chords = [
            Chord(name: "tap_in", of: [.doubleTap, .brushIn], within: .milliseconds(800), isExclusive: true),
            Chord(name: "in_out", of: [.brushIn, .brushOut], within: .milliseconds(800)),
        ]
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        func submit() throws {
            _ = outbox.submit(try #require(scene.publications.last { $0.gesture.isGesture }), at: scene.now.instant)
        }
        for gesture in [Gesture.doubleTap, .brushIn, .brushOut] { scene.report(.gesture(gesture)) }
        try submit()
        scene.report(.gesture(.doubleTap))
        scene.report(.gesture(.brushIn))
        try submit()
        scene.wait(.seconds(1))
        let made = scene.now
        scene.report(.gesture(.doubleTap))
        scene.wait(.milliseconds(801))
        try submit()
        // A trace keeps its name after a reload.
        configuration.options.chords = []
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        let traces = try data(scene, "", outbox)["gestures"]?.elements ?? []
        #expect(traces.map { $0["event_type"]?.string } == ["in_out", "tap_in", "double_tap"])
        #expect(traces.last?["time"]?.string == made.text)
        let released = traces.last?["released_us"]?.integer ?? 0
        #expect((800_999...801_001).contains(released))
        #expect(traces.first?["released_us"] == .null)
        let again = try data(scene, "", outbox)["gestures"]?.elements ?? []
        #expect(again.map { $0["time"] } == traces.map { $0["time"] })
    }

    @Test("says why a tag is not connected: its policy, the user, the error of the last attempt")
    func reasons() throws {
        let entry = TagEntry(id: .tag003R, serial: "003R", connect: .onDemand)
        let scene = Scene(tags: [entry])
        var tag = try data(scene)["tags"]?.elements?.first
        #expect(tag?["connect"] == "on_demand" && tag?["held"] == false && tag?["error"] == .null)
        scene.send("tag/003R/connection/set", "disconnect")
        #expect(try data(scene)["tags"]?.elements?.first?["held"] == true)
        let lost = TagConnectionError(.peerRemovedPairingInfo, "the bond is lost")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: lost)))
        tag = try data(scene)["tags"]?.elements?.first
        #expect(tag?["error"]?["code"] == "peer_removed_pairing_info")
    }

    @Test("forgets the gestures of a removed tag")
    func removedTag() throws {
        let scene = Scene.connected()
        var outbox = Outbox()
        scene.report(.gesture(.brushIn))
        _ = outbox.submit(try #require(scene.publications.last { $0.gesture.isGesture }), at: scene.now.instant)
        scene.handle(.tagRemoved(.tag003R))
        scene.handle(.tagAdded(.tag003R))
        #expect(try data(scene, "", outbox)["gestures"] == .array([]))
    }

    @Test(
        "refuses arguments that are not allowed",
        arguments: [
            (#"{"tag":"9999"}"#, "unknown_tag"), (#"{"seq":1}"#, "invalid_argument"),
            (#"{"tag":"003R","seq":0}"#, "invalid_argument"), (#"{"count":0}"#, "invalid_argument"),
            (#"{"count":101}"#, "invalid_argument"), ("now", "invalid_argument"), ("{", "invalid_json"),
        ])
    func refusal(payload: String, code: String) {
        let scene = Scene.connected()
        scene.send(Self.request, payload)
        #expect(scene.lastError?.code == code)
    }

    // MARK: Commands

    /// The commands of the result, as lines of tag, command, stage, code and repetition.
    private func commands(_ scene: Scene) throws -> [String] {
        (try data(scene)["commands"]?.elements ?? []).map { command in
            ["tag", "command", "stage", "code", "repetition"].compactMap { command[$0]?.string }.joined(separator: " ")
        }
    }

    @Test("has the stages of a command: it waits for the tag, is sent, is answered")
    func command() throws {
        let scene = Scene()
        scene.send("tag/003R/led/set", "flash")
        #expect(try commands(scene) == ["003R led/set accepted"])
        scene.wait(.milliseconds(300))
        scene.connect()
        #expect(try commands(scene) == ["003R led/set sent"])
        scene.wait(.milliseconds(40))
        let token = scene.tokens[scene.tokens.count - 2]
        scene.report(.commandEnded(token: token, .success(.done)))
        let trace = try data(scene)["commands"]?.elements?.first
        #expect(trace?["stage"] == "answered")
        #expect(trace?["sent_us"] == .integer(300_000))
        #expect(trace?["ended_us"] == .integer(340_000))
        #expect(trace?["age_ms"] == .integer(340))
        #expect(trace?["time"] == "2026-11-20T10:15:02.114Z")
    }

    @Test("has the code of a failed command, and why it was not sent")
    func failedCommand() throws {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", "{")
        scene.send("tag/9999/led/set", "flash")
        scene.send("tag/003R/laser/set", "on")
        scene.send("tag/003R/led/set", "flash")
        scene.fail(.timeout)
        scene.disconnect()
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0}"#)
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":500}"#)
        scene.wait(.seconds(1))
        #expect(
            try commands(scene) == [
                "003R led/set failed invalid_json", "9999 led/set failed unknown_tag",
                "003R laser/set failed unknown_command", "003R led/set failed timeout",
                "003R led/set failed tag_offline", "003R led/set failed expired",
            ])
    }

    @Test("names a command with the id of another one: pending, or answered")
    func duplicate() throws {
        let scene = Scene.connected()
        let payload = #"{"id":"a","state":"ON"}"#
        scene.send("tag/003R/led/set", payload)
        scene.send("tag/003R/led/set", payload)
        scene.answer()
        scene.send("tag/003R/led/set", payload)
        #expect(
            try commands(scene) == [
                "003R led/set answered", "003R led/set answered pending", "003R led/set received stored",
            ])
    }

    @Test("has no requests to the bridge, and keeps texts of at most 64 bytes")
    func bounds() throws {
        let scene = Scene.connected()
        scene.send("bridge/attic/request/tags", "")
        scene.send("tag/\(String(repeating: "x", count: 500))/led/set", "flash")
        for _ in 1...300 { scene.send("tag/9999/led/set", "flash") }
        let long = try data(scene, #"{"count":100}"#)["commands"]?.elements ?? []
        #expect(long.count == 100)
        #expect(scene.state.pendingCommands.traces.latest(of: nil, 1_000).count == 256)
        scene.send("tag/\(String(repeating: "x", count: 500))/led/set", "flash")
        #expect(scene.state.pendingCommands.traces.latest(of: nil, 1).first?.tag.utf8.count == 64)
    }

    // MARK: Tags

    @Test("has lost fragments and connections, and the tags that are not connected")
    func incidents() throws {
        let scene = Scene.connected()
        scene.report(.fragmentsLost)
        scene.wait(.seconds(1))
        scene.report(
            .connection(
                TagConnection(
                    state: .preparingToConnect, attempt: 1,
                    error: TagConnectionError(.bluetoothConnectionError, "lost"))))
        let answer = try data(scene)
        let incidents = answer["incidents"]?.elements ?? []
        #expect(incidents.map { $0["type"]?.string } == ["connected", "fragment_lost", "disconnected"])
        #expect(incidents.last?["code"] == "bluetooth_connection_error")
        #expect(incidents.last?["time"] == "2026-11-20T10:15:03.114Z")
        let tag = answer["tags"]?.elements?.first
        #expect(tag?["id"] == "003R")
        #expect(tag?["connection"]?["state"] == "preparing_to_connect")
        scene.connect()
        #expect(try data(scene)["tags"] == .array([]))
        for _ in 1...200 { scene.report(.fragmentsLost) }
        #expect(scene.state.diagnostics.incidents.latest(of: nil, 1_000).count == 128)
    }
}

extension BridgeAction {
    fileprivate var query: TraceQuery? {
        if case .trace(let query, _) = self { query } else { nil }
    }
}

@Suite("traceparent")
struct TraceContextTests {
    private func context(boot: String = "9f3c") -> TraceContext {
        TraceContext(instance: "attic", boot: boot, startedAt: Scene.beginning)
    }

    @Test("has the form of W3C Trace Context, and is unique for each gesture and start")
    func form() {
        var seen: Set<String> = []
        for boot in ["9f3c", "0000"] {
            for tag in (UInt16(1)...20).map({ TagHandle(number: $0) }) {
                for sequence in UInt64(1)...50 {
                    let property = context(boot: boot).parent(tag: tag, sequence: sequence)
                    let parent = property.value
                    #expect(property.name == "traceparent")
                    let parts = parent.split(separator: "-")
                    #expect(parts.map(\.count) == [2, 32, 16, 2])
                    #expect(parts.first == "00" && parts.last == "01")
                    #expect(parent.utf8.allSatisfy { "0123456789abcdef-".utf8.contains($0) })
                    #expect(String(parts[1]) == context(boot: boot).traceID(tag: tag, sequence: sequence))
                    seen.insert(String(parts[1]))
                }
            }
        }
        #expect(seen.count == 2_000)
    }

    @Test("says that a gesture was held back for an exclusive chord, and has the chord")
    func chords() throws {
        let scene = Scene.connected()
        var configuration = scene.state.configuration
        configuration.options.chords = [
            Chord(name: "tap_in", of: [.doubleTap, .brushIn], within: .milliseconds(800), isExclusive: true)
        ]
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.report(.gesture(.doubleTap))
        scene.wait(.seconds(1))
        #expect(scene.publications.last { $0.gesture.isGesture }?.gesture.isHeld == true)
        scene.report(.gesture(.doubleTap))
        scene.report(.gesture(.brushIn))
        let mark = try #require(scene.publications.last { $0.gesture.isGesture }?.gesture.name)
        #expect(scene.state.reactions.gestures.chordNames.name(of: mark) == "tap_in")
        scene.report(.gesture(.shortCover))
        #expect(scene.publications.last { $0.gesture.isGesture }?.gesture.isHeld == false)
    }

    @Test("is in gestures while telemetry.trace is set, also after a reload")
    func setting() {
        let scene = Scene.connected()
        scene.report(.gesture(.brushIn))
        #expect(scene.publications.last?.message.userProperty == nil)
        var configuration = scene.state.configuration
        configuration.options.isTracing = true
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.report(.gesture(.brushIn))
        let parent = scene.publications.last { $0.gesture.isGesture }?.message.userProperty?.value
        #expect(parent?.hasPrefix("00-") == true)
        configuration.options.isTracing = false
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.report(.gesture(.brushIn))
        #expect(scene.publications.last { $0.gesture.isGesture }?.message.userProperty == nil)
    }
}
