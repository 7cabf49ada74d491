import JSON
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Tags that a scan found")
struct FoundTagsTests {
    private static let topic = "jacquard/bridge/attic/found"

    private func scene(isScanning: Bool = true) -> Scene {
        let scene = Scene.announced()
        scene.powerOn()
        guard isScanning else { return scene }
        scene.send("bridge/attic/request/scan", "")
        scene.done()
        return scene
    }

    private func tag(_ serial: String, rssi: Int? = -60, name: String? = nil, isConnected: Bool = false)
        -> TagAdvertisement
    {
        TagAdvertisement(address: "F0:\(serial)", serial: serial, name: name, rssi: rssi, isConnected: isConnected)
    }

    private func lines(of lines: [String]) -> [String] { lines.filter { $0.hasPrefix(Self.topic + " ") } }

    private func heard(_ tag: TagAdvertisement, in scene: Scene) -> [String] {
        lines(of: scene.handle(.advertisement(tag)))
    }

    private func last(_ scene: Scene) -> [UInt8] { scene.publications.last { $0.topic == Self.topic }?.payload ?? [] }

    @Test("has no count before the first scan, and is empty at its start")
    func beginning() {
        let before = scene(isScanning: false).publications.last { $0.topic == Self.topic }
        #expect(before?.text == #"{"count":null,"more":false,"scanning":false,"started":null,"tags":[]}"#)
        #expect(before?.message.isRetained == true)
        #expect(
            String(decoding: last(scene()), as: UTF8.self)
                == #"{"count":0,"more":false,"scanning":true,"started":"2026-11-20T10:15:04.114Z","tags":[]}"#)
    }

    @Test("is published at most once a second, sorted by serial, and with the latest signal strengths at the end")
    func list() {
        let scene = scene()
        #expect(heard(tag("0002"), in: scene) == [])
        #expect(heard(tag("003R", name: "Sleeve"), in: scene) == [])
        #expect(
            lines(of: scene.wait(.seconds(1))) == [
                Self.topic + #" {"count":2,"more":false,"scanning":true,"started":"2026-11-20T10:15:04.114Z","#
                    + #""tags":[{"address":"F0:0002","known":false,"name":null,"rssi":-60,"serial":"0002"},"#
                    + #"{"address":"F0:003R","known":true,"name":"Sleeve","rssi":-60,"serial":"003R"}]}"#
            ])
        #expect(heard(tag("0002", rssi: -40), in: scene) == [])
        #expect(lines(of: scene.wait(.seconds(2))) == [])
        #expect(heard(tag("0002", rssi: nil, name: "Other"), in: scene).count == 1)
        let end = lines(of: scene.wait(.seconds(60)))
        #expect(end.count == 1)
        #expect(end.last?.contains(#""name":"Other","rssi":-40"#) == true)
        #expect(end.last?.contains(#""scanning":false"#) == true)
    }

    @Test("changes only during a scan, and only by tags that are not connected")
    func otherSignals() {
        var scene = scene(isScanning: false)
        #expect(heard(tag("0002"), in: scene) == [])
        scene = self.scene()
        #expect(heard(tag("0002", isConnected: true), in: scene) == [])
        #expect(lines(of: scene.wait(.seconds(5))) == [])
    }

    @Test("is bounded in number and bytes, and shows when tags are missing")
    func bounds() {
        var scene = scene()
        for number in 0..<300 { _ = heard(tag("\(1000 + number)"), in: scene) }
        scene.wait(.seconds(2))
        #expect(JSONValue(parsing: last(scene))?["count"] == .integer(32))
        #expect(JSONValue(parsing: last(scene))?["more"] == .bool(true))
        scene = self.scene()
        let long = String(repeating: "\u{1}", count: 240)
        for number in 0..<30 { _ = heard(tag("\(1000 + number)", name: long), in: scene) }
        scene.wait(.seconds(2))
        #expect(last(scene).count < 4_300)
        #expect(JSONValue(parsing: last(scene))?["more"] == .bool(true))
    }

    @Test("is not published without discovery, and is cleared when a reload switches it off")
    func withoutDiscovery() {
        var scene = Scene()
        scene.handle(.started)
        #expect(!scene.publications.contains { $0.topic == Self.topic })
        scene = self.scene()
        let off = BridgeConfiguration(instance: "attic", version: "0.1.0", tags: [.sleeve])
        scene.handle(.configurationChanged(off, isBrokerConnected: true))
        scene.wait(.seconds(1))
        #expect(last(scene) == [])
        #expect(scene.publications.last { $0.topic == "jacquard/bridge/attic/pairing" }?.payload == [])
    }
}
