import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("J48 modules/get and modules/set")
struct ModuleCommandTests {
    private static func modules(isEnabled: Bool) -> [ModuleDescriptor] {
        var module = ModuleDescriptor.motion
        module.version = FirmwareVersion(1, 2, 3)
        module.isEnabled = isEnabled
        return [module]
    }

    private static func line(isEnabled: Bool) -> String {
        #"jacquard/tag/003R/modules [{"enabled":\#(isEnabled),"firmware":"1.2.3","module_id":"3d-0b-e7-53","#
            + #""name":"IMUModule","product_id":"ef-3e-5b-88","vendor_id":"11-78-30-c8"}]"#
    }

    @Test("send these commands")
    func commands() {
        let scene = Scene.connected()
        scene.send("tag/003R/modules/get", "")
        scene.send("tag/003R/modules/set", #"{"module":"IMUModule","action":"activate"}"#)
        scene.send("tag/003R/modules/set", #"{"module":"3d-0b-e7-53","action":"deactivate"}"#)
        scene.send("tag/003R/modules/set", #"{"module":"3d-0b-e7-53","action":"delete","confirm":"3d-0b-e7-53"}"#)
        #expect(
            scene.performed == [
                .listModules, .changeModule(.activate, named: "IMUModule"),
                .changeModule(.deactivate, named: "3d-0b-e7-53"), .changeModule(.delete, named: "3d-0b-e7-53"),
            ])
    }

    @Test("publish the list once it is known, and again with all facts; before, there is no topic")
    func fact() {
        let scene = Scene.connected()
        #expect(!scene.publications.contains { $0.topic.hasSuffix("/modules") })
        scene.send("tag/003R/modules/get", "")
        #expect(scene.answer(.modules(Self.modules(isEnabled: false))).last == Self.line(isEnabled: false))
        scene.send("tag/003R/modules/set", #"{"module":"IMUModule","action":"activate"}"#)
        let lines = scene.answer(.modules(Self.modules(isEnabled: true)))
        #expect(lines.first?.contains(#""data":{"modules":[{"enabled":true"#) == true)
        #expect(lines.dropFirst().first == Self.line(isEnabled: true))
        #expect(scene.publications.suffix(lines.count - 1).allSatisfy { $0.message.isRetained })
    }

    @Test(
        "reject what is missing or unknown, and a deletion that is not confirmed by its number",
        arguments: [
            (
                #"{"action":"activate"}"#,
                #""module" is missing; it may be the name of a module such as IMUModule, or its module_id"#
            ),
            (#"{"module":"IMUModule"}"#, #""action" is missing; it may be activate, deactivate, delete"#),
            (#"{"module":"IMUModule","action":"eat"}"#, #""action" is "eat"; it may be activate, deactivate, delete"#),
            (
                #"{"module":"3d-0b-e7-53","action":"delete"}"#,
                #""confirm" is missing; it may be the module_id of the module: it can't be restored without its image"#
            ),
            (
                #"{"module":"IMUModule","action":"delete","confirm":"3d-0b-e7-53"}"#,
                #""module" is "IMUModule"; to delete it, module and confirm are its module_id"#
            ),
        ])
    func rejected(payload: String, text: String) {
        let scene = Scene.connected()
        scene.send("tag/003R/modules/set", payload)
        #expect(scene.performed == [])
        #expect(scene.lastError?.text == text)
    }

    @Test("say which module the tag does not have, and that it could not load one")
    func failures() {
        let scene = Scene.connected()
        scene.send("tag/003R/modules/set", #"{"module":"Dance","action":"activate"}"#)
        scene.fail(.moduleMissing("Dance"))
        #expect(scene.lastError?.code == "unsupported")
        #expect(scene.lastError?.text == #"Tag 003R has no module "Dance""#)
        scene.send("tag/003R/modules/set", #"{"module":"IMUModule","action":"activate"}"#)
        scene.fail(.moduleNotLoaded(.busy))
        #expect(scene.lastError?.text == "The tag did not load the module: ERROR_BUSY")
    }

    @Test("only administrators may change modules")
    func role() {
        let table = AccessTable()
        #expect(table.roles(publishingTo: "jacquard/tag/003R/modules/set") == [.admin])
        #expect(table.roles(publishingTo: "jacquard/tag/003R/modules/get") == [.admin, .homeAssistant])
    }
}
