import JSON
import JacquardProtocol
import Testing
import Text

@testable import Bridge

@Suite("Reasons in Home Assistant")
struct ReasonsInHomeAssistantTests {
    private static let topic = "jacquard/tag/003R/connection"

    /// The key `why` of `T/connection`; nil if it is missing.
    private func why(_ scene: Scene) -> String?? {
        let document = scene.publications.last { $0.topic == Self.topic }.flatMap { JSONValue(parsing: $0.payload) }
        guard let value = document?["why"] else { return nil }
        return .some(value.string)
    }

    /// The key `status` of `T/connection`.
    private func status(_ scene: Scene) -> String? {
        scene.publications.last { $0.topic == Self.topic }.flatMap { JSONValue(parsing: $0.payload) }?["status"]?.string
    }

    private func failed(_ code: TagConnectionError.Code) -> TagEvent {
        .connection(
            TagConnection(state: .preparingToConnect, attempt: 1, error: TagConnectionError(code, "No link")))
    }

    @Test("a tag says why it is not connected, and nothing while it is")
    func reasons() {
        let scene = Scene.announced()
        scene.powerOn()
        #expect(why(scene) == "not received since the bridge started. \(TagAdvice.wake)")
        scene.handle(.sighting(.tag003R, TagSighting(address: "F0", rssi: -60)))
        scene.report(failed(.connectionTimeout))
        #expect(why(scene) == "not connected: No link. \(TagConnectionError.Code.connectionTimeout.hint)")
        // The last failure stays during the next attempt.
        scene.report(.connection(TagConnection(state: .connecting(step: 1), attempt: 2)))
        #expect(why(scene) == "not connected: No link. \(TagConnectionError.Code.connectionTimeout.hint)")
        scene.connect()
        #expect(why(scene) == .some(nil))
        scene.send("tag/003R/connection/set", "disconnect")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 0)))
        #expect(why(scene) == "disconnected by the user")
    }

    @Test("a tag says its status in one word")
    func statuses() {
        let scene = Scene.announced()
        scene.powerOn()
        #expect(status(scene) == "out_of_range")
        scene.handle(.sighting(.tag003R, TagSighting(address: "F0", rssi: -60)))
        scene.report(.connection(TagConnection(state: .connecting(step: 1), attempt: 1)))
        #expect(status(scene) == "connecting")
        for (code, word) in [
            (TagConnectionError.Code.connectionTimeout, "out_of_range"), (.bluetoothConnectionError, "out_of_range"),
            (.inUse, "in_use"), (.peerRemovedPairingInfo, "no_bond"), (.serviceDiscoveryError, "failed"),
            (.bluetoothPowerOff, "bluetooth_off"),
        ] {
            // Progress is published at most ten times a second.
            scene.wait(.seconds(1))
            scene.report(failed(code))
            #expect(status(scene) == word)
        }
        scene.report(.connection(TagConnection(state: .connecting(step: 1), attempt: 2)))
        #expect(status(scene) == "connecting", "an attempt after a failure")
        scene.connect()
        #expect(status(scene) == "connected")
        scene.send("tag/003R/connection/set", "disconnect")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 0)))
        #expect(status(scene) == "disconnected_by_user")
    }

    @Test(
        "the status of a tag that is not to be connected",
        arguments: [(TagEntry.ConnectPolicy.never, "disabled"), (.onDemand, "on_demand")])
    func policies(policy: TagEntry.ConnectPolicy, word: String) {
        let scene = Scene.announced(tags: [TagEntry(id: .tag003R, serial: "003R", connect: policy)])
        scene.powerOn()
        scene.handle(.sighting(.tag003R, TagSighting(address: "F0", rssi: -60, isPaired: true)))
        scene.wait(.seconds(61))
        scene.handle(.sighting(.tag003R, TagSighting(address: "F0", rssi: -60, isPaired: true)))
        #expect(status(scene) == word)
    }

    @Test("the sentences are those of the doctor")
    func source() {
        let scene = Scene.announced()
        scene.powerOn()
        scene.handle(.sighting(.tag003R, TagSighting(address: "F0", rssi: -60)))
        scene.report(failed(.connectionTimeout))
        let link = TagFindings(scene.state.tags[0], nil, now: scene.now).link
        #expect(why(scene) == ([link.found] + link.remedies).joined(separator: ". "))
    }

    @Test("the document has all its keys without discovery, and a reload without it does not change it")
    func withoutDiscovery() {
        let scene = Scene()
        scene.begin()
        scene.powerOn()
        #expect(why(scene) == "not received since the bridge started. \(TagAdvice.wake)")
        scene.send("tag/003R/connection/set", "disconnect")
        #expect(scene.publications.last { $0.topic == Self.topic }?.text.contains(#""held":true"#) == true)
        let with = Scene.announced()
        var off = with.state.configuration
        off.homeAssistant = nil
        let lines = with.handle(.configurationChanged(off, isBrokerConnected: true))
        #expect(!lines.contains { $0.hasPrefix(Self.topic) })
    }

    @Test("hint, problem and cause are states of at most 255 characters")
    func entities() {
        let scene = Scene.announced()
        let (tag, bridge) = (scene.components(), scene.components(of: "jacquard_bridge_attic"))
        for (item, topic) in [
            (tag["why_disconnected"], Self.topic), (bridge["pairing_hint"], "jacquard/bridge/attic/pairing"),
            (bridge["problem_text"], "jacquard/bridge/attic/health"),
        ] {
            #expect(item?["state_topic"]?.string == topic)
            #expect(item?["value_template"]?.string?.hasSuffix("[:255] }}") == true)
        }
    }
}
