import JacquardProtocol
import Testing

@testable import Bridge

@Suite("name/set, info/get, rssi/get, sleep/set")
struct TagCareCommandTests {
    @Test(
        "accept these forms",
        arguments: [
            ("name/set", "Left sleeve", .rename("Left sleeve")),
            ("name/set", #"{"name":"Left sleeve","id":"x"}"#, .rename("Left sleeve")),
            ("name/set", #""7""#, .rename("7")),
            ("name/set", "äöüäöüäöüä!", .rename("äöüäöüäöüä!")),
            ("info/get", "", .deviceInformation(of: .tag)),
            ("info/get", #"{"component":"gear"}"#, .deviceInformation(of: .gear)),
            ("info/get", #"{"component":"modules"}"#, .listModules),
            (
                "sleep/set", #"{"timeout_s":30,"wake_on_motion":true}"#,
                .disconnectTag(timeoutSeconds: 30, reconnectOnlyOnWakeOnMotion: true)
            ),
            ("sleep/set", "", .disconnectTag(timeoutSeconds: 0, reconnectOnlyOnWakeOnMotion: false)),
        ] as [(String, String, TagCommand)])
    func command(command: String, payload: String, expected: TagCommand) {
        let scene = Scene.connected()
        scene.send("tag/003R/" + command, payload)
        #expect(scene.performed == [expected])
    }

    private static let name = "1 to 21 bytes of UTF-8 without control characters, not only spaces"

    @Test(
        "reject an invalid value with the allowed ones",
        arguments: [
            ("name/set", "", #""name" is missing; it may be \#(name)"#),
            ("name/set", #"{"name":""}"#, #""name" is ""; it may be \#(name)"#),
            ("name/set", "1234567890123456789012", #""name" is "1234567890123456789012"; it may be \#(name)"#),
            ("name/set", "äöüäöüäöüäö", #""name" is "äöüäöüäöüäö"; it may be \#(name)"#),
            ("name/set", #"{"name":"a\nb"}"#, "\"name\" is \"a\nb\"; it may be \(name)"),
            ("name/set", #"{"name":"a\u001Fb"}"#, "\"name\" is \"a\u{1F}b\"; it may be \(name)"),
            ("name/set", #"{"name":" \u3000"}"#, "\"name\" is \" \u{3000}\"; it may be \(name)"),
            ("name/set", "\" \"", #""name" is " "; it may be \#(name)"#),
            ("name/set", #"{"name":7}"#, #""name" is 7; it may be \#(name)"#),
            ("name/set", "Old", #""name" is "Old"; it may be \#(name), and not the name that it has"#),
            ("info/get", "now", #""payload" is "now"; it may be empty, or an object with component, id and ttl_ms"#),
            ("info/get", #"{"component":"cloud"}"#, #""component" is "cloud"; it may be tag, gear, modules"#),
            ("info/get", #"{"component":1}"#, #""component" is 1; it may be tag, gear, modules"#),
            ("rssi/get", "now", #""payload" is "now"; it may be empty, or an object with id and ttl_ms"#),
            ("rssi/get", #"{"ttl_ms":"x"}"#, #""ttl_ms" is "x"; it may be 0 to 86400000"#),
            ("rssi/get", "[]", "The payload is a list; it may be an object or one word"),
            (
                "sleep/set", "now",
                #""payload" is "now"; it may be empty, or an object with timeout_s, wake_on_motion, id and ttl_ms"#
            ),
            ("sleep/set", #"{"timeout_s":-1}"#, #""timeout_s" is -1; it may be 0 to 86400"#),
            ("sleep/set", #"{"timeout_s":86401}"#, #""timeout_s" is 86401; it may be 0 to 86400"#),
            ("sleep/set", #"{"wake_on_motion":1}"#, #""wake_on_motion" is 1; it may be true or false"#),
        ])
    func wrongValues(command: String, payload: String, text: String) {
        let scene = Scene.connected()
        scene.handle(.sighting(.tag003R, TagSighting(name: "Old")))
        _ = scene.takeActions()
        scene.send("tag/003R/" + command, payload)
        #expect(scene.performed == [])
        #expect(scene.lastError == ResultError(code: "invalid_argument", text: text, hint: nil, retryable: false))
    }

    @Test("the last name of a tag that is away is no reason to refuse it: another bridge may have changed it")
    func sameNameWhileAway() {
        let scene = Scene.connected()
        scene.handle(.sighting(.tag003R, TagSighting(name: "Old")))
        scene.disconnect()
        _ = scene.takeActions()
        scene.send("tag/003R/name/set", "Old")
        #expect(scene.lastError == nil)
        scene.connect()
        #expect(scene.performed == [.rename("Old")])
    }

    @Test("a new name is published, and stored across restarts")
    func rename() {
        let scene = Scene.connected()
        scene.send("tag/003R/name/set", "Left sleeve")
        #expect(scene.answer().last?.contains(#""name":"Left sleeve""#) == true)
        #expect(scene.takeActions().last == .remember(TagRecord(id: .tag003R, serial: "003R", name: "Left sleeve")))
    }

    @Test("device information is in the result, and is published")
    func information() {
        let scene = Scene.connected()
        scene.send("tag/003R/info/get", "")
        let lines = scene.answer(.component(.tag))
        #expect(lines.first?.contains(#""firmware":"1.2.3""#) == true)
        #expect(lines.last?.hasPrefix("jacquard/tag/003R/info {") == true)
        scene.send("tag/003R/info/get", #"{"component":"gear"}"#)
        #expect(scene.answer(.component(.jacket)).last?.contains(#""product":"Trucker Jacket""#) == true)
    }

    @Test("loadable modules are in the result; what the tag leaves out is null")
    func modules() {
        let scene = Scene.connected()
        var module = ModuleDescriptor()
        module.name = "IMUModule"
        module.vendorID = .google
        module.version = FirmwareVersion(1, 2, 0)
        module.isEnabled = true
        scene.send("tag/003R/info/get", #"{"component":"modules"}"#)
        let data =
            #""data":{"modules":[{"enabled":true,"firmware":"1.2.0","module_id":null,"name":"IMUModule","#
            + #""product_id":null,"vendor_id":"11-78-30-c8"},"#
            + #"{"enabled":null,"firmware":null,"module_id":null,"name":null,"product_id":null,"vendor_id":null}]}"#
        #expect(scene.answer(.modules([module, ModuleDescriptor()])).first?.contains(data) == true)
    }

    @Test("the signal strength is that of the last measurement, with its time")
    func signal() {
        let scene = Scene()
        scene.handle(.sighting(.tag003R, TagSighting(rssi: -63)))
        scene.handle(.sighting(.tag003R, TagSighting(adapter: "hci0")))
        scene.wait(.seconds(3600))
        scene.connect()
        let lines = scene.send("tag/003R/rssi/get", "")
        #expect(
            lines == [
                #"jacquard/tag/003R/rssi/result {"bridge":"attic","#
                    + #""data":{"rssi":-63,"time":"2026-11-20T10:15:02.114Z"},"error":null,"final":true,"id":null,"#
                    + #""status":"ok","time":"2026-11-20T11:15:02.114Z","took_ms":0}"#, "jacquard/tag/003R/rssi -63",
            ])
        #expect(scene.tokens == [])
    }

    @Test("the signal strength is unsupported if it was not measured for this link")
    func noSignal() {
        let scene = Scene()
        scene.handle(.sighting(.tag003R, TagSighting(rssi: -63)))
        scene.connect()
        scene.disconnect()
        scene.connect()
        scene.send("tag/003R/rssi/get", "")
        #expect(
            scene.lastError
                == ResultError(
                    code: "unsupported", text: "The signal of tag 003R has not been measured for this link",
                    hint: "Bluetooth measures advertisements, and a connected tag sends none", retryable: false))
        scene.disconnect()
        scene.handle(.sighting(.tag003R, TagSighting(rssi: -70)))
        scene.send("tag/003R/rssi/get", "")
        scene.connect()
        #expect(scene.results.last?.status == "ok")
        #expect(scene.publications.last?.line == "jacquard/tag/003R/rssi -70")
    }
}
