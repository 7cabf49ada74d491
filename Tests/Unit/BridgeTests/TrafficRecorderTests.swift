import GATTRecording
import JSON
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("request/gatt")
struct TrafficRecorderTests {
    private static let other = TagEntry(id: TagID("0001"), serial: "0001")

    /// The lines on `gatt` among publications.
    private static func records(_ lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix("jacquard/bridge/attic/gatt ") }.map { String($0.drop { $0 != " " }.dropFirst()) }
    }

    @Test("publishes the traffic of one tag, numbered and with times, as a stream")
    func records() {
        let scene = Scene.connected(tags: [.tag003R, Self.other])
        let lines = scene.send("bridge/attic/request/gatt", #"{"id":"a","tag":"003R","duration_s":10}"#)
        #expect(
            lines.last?.contains(
                #""data":{"recording":true,"tag":"003R","until":"2026-11-20T10:15:12.114Z"},"error":null"#) == true)
        #expect(scene.takeActions().contains(.recordTraffic(of: .tag003R)))
        scene.wait(.milliseconds(2))
        #expect(
            Self.records(scene.handle(.traffic(.tag003R, .notified([0xC0, 1], on: .notify)))) == [
                #"{"event":"notified","n":1,"on":"notify","t_us":2000,"tag":"003R","value":"c001"}"#
            ])
        #expect(scene.publications.last?.kind == .stream && scene.publications.last?.message.qos == .atMostOnce)
        #expect(scene.handle(.traffic(2, .connected)) == [])
        #expect(
            Self.records(scene.handle(.traffic(.tag003R, .disconnected(reason: nil)))) == [
                #"{"event":"disconnected","n":2,"reason":null,"t_us":2000,"tag":"003R"}"#
            ])
    }

    @Test("ends after its duration, with a last record that is not lost")
    func duration() {
        let scene = Scene.connected()
        scene.send("bridge/attic/request/gatt", #"{"tag":"003R","duration_s":10}"#)
        #expect(
            Self.records(scene.wait(.seconds(10))) == [
                #"{"event":"end","n":1,"reason":"duration","t_us":10000000,"tag":"003R"}"#
            ])
        #expect(scene.publications.last?.kind == .event(lifetime: .seconds(60)))
        #expect(scene.takeActions().last == .recordTraffic(of: nil))
        #expect(scene.handle(.traffic(.tag003R, .connected)) == [])
    }

    @Test("ends on request; a request without a recording succeeds too")
    func stop() {
        let scene = Scene.connected()
        #expect(scene.send("bridge/attic/request/gatt", "stop").last?.contains(#""recording":false"#) == true)
        #expect(!scene.takeActions().contains(.recordTraffic(of: nil)))
        scene.send("bridge/attic/request/gatt", #"{"tag":"003R"}"#)
        let lines = scene.send("bridge/attic/request/gatt", "stop")
        #expect(Self.records(lines) == [#"{"event":"end","n":1,"reason":"stopped","t_us":0,"tag":"003R"}"#])
        #expect(lines.last?.contains(#""data":{"recording":false,"tag":null,"until":null}"#) == true)
    }

    @Test(
        "ends when the bridge stops, and when the tag is removed",
        arguments: [BridgeEvent.stopping, .tagRemoved(.tag003R)])
    func removal(event: BridgeEvent) {
        let scene = Scene.connected()
        scene.send("bridge/attic/request/gatt", #"{"tag":"003R"}"#)
        #expect(
            Self.records(scene.handle(event)) == [#"{"event":"end","n":1,"reason":"removed","t_us":0,"tag":"003R"}"#])
        #expect(scene.takeActions().contains(.recordTraffic(of: nil)))
    }

    @Test("is bounded in records and in bytes")
    func bounded() {
        let scene = Scene.connected()
        scene.send("bridge/attic/request/gatt", #"{"tag":"003R","duration_s":3600}"#)
        let value = [UInt8](repeating: 1, count: 512)
        var bytes = 0
        while scene.state.diagnostics.recorder.recording != nil {
            scene.handle(.traffic(.tag003R, .notified(value, on: .rawData)))
            bytes += value.count
        }
        #expect(bytes == TrafficRecording.maxValueBytes)
        #expect(scene.publications.last?.line.contains(#""reason":"size""#) == true)
        var recorder = TrafficRecorder(topic: "gatt")
        var (count, last) = (0, Effects())
        recorder.begin(.tag003R, nil, for: .seconds(1), at: Scene.beginning, &last)
        while recorder.recording != nil {
            last = Effects()
            recorder.record(.written, of: .tag003R, at: Scene.beginning, &last)
            count += 1
        }
        #expect(count == TrafficRecording.maxRecords)
        // The last record still fits into what a parser accepts.
        guard let end = last.publications.last else {
            Issue.record("The recording has no end.")
            return
        }
        #expect(JSONValue(parsing: end.payload).flatMap(TrafficRecord.init) != nil)
    }

    @Test("records one tag at a time")
    func busy() {
        let scene = Scene.connected(tags: [.tag003R, Self.other])
        scene.send("bridge/attic/request/gatt", #"{"tag":"003R"}"#)
        scene.send("bridge/attic/request/gatt", #"{"tag":"0001"}"#)
        #expect(scene.lastError?.code == "busy")
        #expect(scene.state.diagnostics.recorder.recording?.tag == .tag003R)
    }

    @Test(
        "rejects what makes no sense",
        arguments: [
            ("", "invalid_argument"), ("{}", "invalid_argument"), ("go", "invalid_argument"),
            (#"{"tag":"0009"}"#, "unknown_tag"), (#"{"tag":7}"#, "invalid_argument"),
            (#"{"tag":"003R","duration_s":0}"#, "invalid_argument"),
            (#"{"tag":"003R","duration_s":3601}"#, "invalid_argument"),
        ])
    func invalid(payload: String, code: String) {
        let scene = Scene.connected()
        scene.send("bridge/attic/request/gatt", payload)
        #expect(scene.lastError?.code == code)
        #expect(scene.state.diagnostics.recorder.recording == nil)
    }

    @Test("costs nothing while no recording is requested: no record is made")
    func idle() {
        let scene = Scene.connected()
        #expect(scene.handle(.traffic(.tag003R, .connected)) == [])
    }
}
