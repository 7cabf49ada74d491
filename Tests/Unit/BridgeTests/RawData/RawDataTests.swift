import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("J36 and J37 raw/set and T/raw")
struct RawDataTests {
    private func scene(allowsRawData: Bool = true) -> Scene {
        let scene = Scene()
        var configuration = Scene.configuration()
        configuration.options.features.allowsRawData = allowsRawData
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.connect()
        _ = scene.takeActions()
        return scene
    }

    @Test("are refused unless the configuration allows them")
    func disabled() {
        let scene = scene(allowsRawData: false)
        for payload in [#"{"views":["packet"]}"#, #"{"send":"0741"}"#] {
            scene.send("tag/003R/raw/set", payload)
            #expect(scene.lastError?.code == "not_permitted")
            #expect(scene.lastError?.text == "Raw data is disabled in the configuration")
        }
        #expect(scene.performed == [])
        #expect(scene.takeActions() == [])
        #expect(scene.report(.raw([1], view: .value)) == [])
    }

    @Test("J36: the selected views are published, others are not")
    func views() {
        let scene = scene()
        scene.send("tag/003R/raw/set", #"{"views":["packet","value"]}"#)
        #expect(scene.takeActions() == [.observeRawData([.packet, .value], of: .tag003R)])
        #expect(
            scene.report(.raw([0xC0, 2, 7, 0x41], view: .value))
                == [#"jacquard/tag/003R/raw {"bytes":"c0020741","view":"value"}"#])
        #expect(
            scene.report(.raw([7, 0x41], view: .packet))
                == [#"jacquard/tag/003R/raw {"bytes":"0741","view":"packet"}"#])
        #expect(scene.report(.raw([0x41], view: .payload)) == [])
        #expect(scene.publications.last?.message.qos == .atMostOnce)
        #expect(scene.publications.last?.message.isRetained == false)
        scene.disconnect()
        scene.connect()
        #expect(
            scene.takeActions().contains(.observeRawData([.packet, .value], of: .tag003R)),
            "the session may be a new one")
        scene.send("tag/003R/raw/set", #"{"views":[]}"#)
        #expect(scene.takeActions() == [.observeRawData([], of: .tag003R)])
        #expect(scene.report(.raw([1], view: .value)) == [])
    }

    @Test("J37: bytes are sent; the result follows when they are written")
    func send() {
        let scene = scene()
        scene.send("tag/003R/raw/set", #"{"send":"0741aF"}"#)
        #expect(scene.performed == [.sendRaw([7, 0x41, 0xAF])])
        #expect(scene.answer().last?.contains(#""status":"ok""#) == true)
    }

    @Test(
        "reject what is not allowed",
        arguments: [
            (#"{}"#, #""views" or "send" is missing; views may be a list of value, packet, payload"#),
            (
                #"{"views":["all"]}"#,
                #""views" is "all"; it may be a list of value, packet, payload; an empty one ends it"#
            ),
            (#"{"views":[],"send":"00"}"#, #""views" and "send" exclude each other"#),
            (#"{"send":""}"#, #""send" is ""; it may be 1 to 1024 bytes in hexadecimal, such as 0741"#),
            (#"{"send":"074"}"#, #""send" is "074"; it may be 1 to 1024 bytes in hexadecimal, such as 0741"#),
            (#"{"send":"07 4"}"#, #""send" is "07 4"; it may be 1 to 1024 bytes in hexadecimal, such as 0741"#),
        ])
    func rejected(payload: String, text: String) {
        let scene = scene()
        scene.send("tag/003R/raw/set", payload)
        #expect(scene.performed == [])
        #expect(scene.lastError?.text == text)
    }

    @Test("a reload that disables them ends the publication")
    func reload() {
        let scene = scene()
        scene.send("tag/003R/raw/set", #"{"views":["value"]}"#)
        _ = scene.takeActions()
        scene.handle(.configurationChanged(Scene.configuration(), isBrokerConnected: true))
        #expect(scene.takeActions() == [.observeRawData([], of: .tag003R)])
        #expect(scene.report(.raw([1], view: .value)) == [])
    }

    @Test("only administrators may use them")
    func role() {
        #expect(AccessTable().roles(publishingTo: "jacquard/tag/003R/raw/set") == [.admin])
        #expect(AccessTable().roles(publishingTo: "jacquard/group/all/raw/set") == [.admin])
    }
}
