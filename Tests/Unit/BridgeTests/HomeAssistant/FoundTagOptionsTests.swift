import HomeAssistant
import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("The list of tags to pair in Home Assistant")
struct FoundTagOptionsTests {
    private func found(_ serial: String, in scene: Scene) {
        scene.handle(
            .advertisement(TagAdvertisement(address: "F0:\(serial)", serial: serial, name: nil, rssi: -60)))
    }

    private func options(_ scene: Scene) -> [String] {
        scene.components(of: "jacquard_bridge_attic")["pair_tag"]?["options"]?.list.compactMap(\.text) ?? []
    }

    private func scanning(_ form: HomeAssistantConfiguration.Form = .device) -> Scene {
        let scene = Scene.announced(form)
        scene.powerOn()
        scene.send("bridge/attic/request/scan", "")
        scene.done()
        return scene
    }

    @Test("has the found tags that are not known, and sets the serial of the next pairing")
    func list() {
        let scene = scanning()
        #expect(options(scene) == ["Scan first"])
        for serial in ["0002", "0001", "003R"] { found(serial, in: scene) }
        scene.wait(.seconds(2))
        #expect(options(scene) == ["0001", "0002"])
        let item = scene.components(of: "jacquard_bridge_attic")["pair_tag"]
        #expect(item?["command_topic"]?.string == "jacquard/bridge/attic/request/pair_serial")
        #expect(item?["command_template"]?.string == "{{ value if value in ['0001', '0002'] else '' }}")
        #expect(item?["state_topic"]?.string == "jacquard/bridge/attic/pairing")
    }

    @Test("loses a tag that was added to the configuration, and has it again with the next scan after it was removed")
    func configured() {
        let scene = scanning()
        found("0001", in: scene)
        scene.wait(.seconds(2))
        scene.handle(.tagAdded(TagEntry(id: "0001", serial: "0001")))
        #expect(options(scene) == ["Scan first"])
        #expect(scene.publications.last { $0.topic.hasSuffix("/found") }?.text.contains(#""known":true"#) == true)
        scene.handle(.tagRemoved("0001"))
        #expect(options(scene) == ["Scan first"])
        #expect(scene.publications.last { $0.topic.hasSuffix("/found") }?.text.contains(#""known":false"#) == true)
    }

    @Test("loses a tag that was paired, and all at the next scan")
    func paired() {
        let scene = scanning()
        for serial in ["0002", "0001"] { found(serial, in: scene) }
        scene.wait(.seconds(2))
        scene.send("bridge/attic/request/pair", "0001")
        scene.done(.paired(address: "F0:0001", name: nil))
        #expect(options(scene) == ["0002"])
        scene.send("bridge/attic/request/scan", "stop")
        scene.done()
        scene.send("bridge/attic/request/scan", "")
        scene.done()
        #expect(options(scene) == ["Scan first"])
    }

    @Test("is announced again only when it changes, and without the tags")
    func announcements() {
        let scene = scanning()
        let before = scene.publications.count
        found("0001", in: scene)
        scene.wait(.seconds(2))
        found("0001", in: scene)
        scene.wait(.seconds(2))
        let topics = scene.publications.dropFirst(before).map(\.topic).filter { $0.hasSuffix("/config") }
        #expect(topics == ["homeassistant/device/jacquard_bridge_attic/config"])
    }

    @Test("a failed pairing becomes idle after ten minutes, unless another one has begun")
    func failureEnds() {
        func state(_ scene: Scene) -> String? {
            scene.publications.last { $0.topic == "jacquard/bridge/attic/pairing" }
                .flatMap { JSONValue(parsing: $0.payload)?["state"]?.string }
        }
        let scene = Scene.announced()
        scene.powerOn()
        scene.send("bridge/attic/request/pair", "0001")
        scene.notDone(.notFound)
        scene.wait(.seconds(599))
        #expect(state(scene) == "failed")
        scene.wait(.seconds(1))
        #expect(state(scene) == "idle")
        scene.send("bridge/attic/request/pair", "0001")
        scene.notDone(.notFound)
        scene.wait(.seconds(599))
        scene.send("bridge/attic/request/pair", #"{"serial":"0001","timeout_s":300}"#)
        scene.wait(.seconds(2))
        #expect(state(scene) == "searching")
    }

    @Test("the names of the steps of a pairing are in their order, and have no numbers")
    func names() {
        let items = Scene.announced().components(of: "jacquard_bridge_attic")
        let names = ["scan", "pair_tag", "pair_serial", "pair"].compactMap { items[$0]?["name"]?.string }
        #expect(names == ["Scan for tags", "Select tag to pair", "Serial of tag to pair", "Start pairing"])
        #expect(names == names.sorted())
    }
}
