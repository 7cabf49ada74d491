import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A recording of Bluetooth traffic")
struct RecordingTests {
    @Test("has the start of the connection and what happens then, and a replay of it is such a tag")
    func recordAndReplay() async throws {
        let folder = try ScratchFolder()
        let file = folder.path + "/tag.jsonl"
        try await inWorld { world in
            try await world.connected()
            let recorder = try Program(
                Program.buildFolder + "/jacquard2mqtt", ["record-traffic", "0001", file, "--reconnect", "--json"],
                environment: world.environment)
            try await until("the recording") { recorder.printed.contains("Ctrl-C ends it") }
            let channels = 3
            try await until("the new connection") { world.told("subscribed").count == 2 * channels }
            try await until("what the bridge says of it") {
                world.observer.payloads(of: "jacquard/tag/0001/availability").suffix(2) == ["offline", "online"]
            }
            try await world.simulate("battery 0001 33 charging")
            try await world.simulate("gesture 0001 brush_in")
            try await until("the gesture") { world.observer.latest("jacquard/tag/0001/gesture") != nil }
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            recorder.signal(SIGINT)
            try await until("its end") { recorder.hasEnded }
            #expect(recorder.exitStatus == 0, "\(recorder.printed)")
            let line = try #require(recorder.printed.split(separator: "\n").last { $0.hasPrefix("{") })
            let document = Observer.object(String(line))
            #expect(document["lost"] as? Int == 0 && document["end"] as? String == "stopped")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.hasPrefix(#"{"format":"jacquard-gatt","version":1}"#))
            for event in ["connected", "mtu", "characteristics", "subscribed", "write", "written", "notified", "end"] {
                #expect(text.contains(#""event":"\#(event)""#), "\(event)")
            }
            // The serial in ASCII, and the address.
            #expect(!text.contains("30303031") && !text.contains("F0:00"))
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            let again = try await world.run(Program.buildFolder + "/jacquard2mqtt", ["record-traffic", "0001", file])
            #expect(again.status == 1 && again.printed.contains("Choose another name"), "\(again.printed)")
        }
        try await inWorld(options: ["--replay-traffic", file, "--speed", "10"]) { world in
            try await world.connected()
            try await until("the recorded battery") {
                world.observer.document("jacquard/tag/0001/battery")["level"] as? Int == 33
            }
            try await until("the recorded gesture") {
                world.observer.document("jacquard/tag/0001/gesture")["event_type"] as? String == "brush_in"
            }
            #expect(world.told("unrecorded").isEmpty, "\(world.told("unrecorded"))")
            try await world.succeeds("jacquard/tag/0001/config/get", #"{"key":"colour"}"#)
            try await until("the report of a request that was not recorded") { !world.told("unrecorded").isEmpty }
        }
    }

    @Test("ends after its duration, and names the bridge's error")
    func duration() async throws {
        let folder = try ScratchFolder()
        try await inWorld { world in
            try await world.connected()
            let program = Program.buildFolder + "/jacquard2mqtt"
            let (status, printed) = try await world.run(
                program, ["record-traffic", "0001", folder.path + "/a", "--duration", "1"])
            #expect(status == 0 && printed.contains("/a: 1 record, 0 requests"), "\(printed)")
            let unknown = try await world.run(program, ["record-traffic", "0009", folder.path + "/b"])
            #expect(unknown.status == 1 && unknown.printed.contains("0009"), "\(unknown.printed)")
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/b"))
        }
    }
}
