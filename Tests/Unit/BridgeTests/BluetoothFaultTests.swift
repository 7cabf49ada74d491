import Foundation
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("The cause of a fault of Bluetooth")
struct BluetoothFaultTests {
    private static let cause = Cause(
        .noAdapter, .adapter, "there is no adapter hci7", effect: "No tag can be reached",
        remedies: ["plug it in", "wait"])
    private static let refusal = Cause(
        .discoveryFailed, .discovery, "bluetoothd refuses", effect: "No tag can be found", remedies: ["restart it"])

    private func document(_ scene: Scene, _ topic: String) throws -> [String: Any] {
        let payload = try #require(latest(scene, topic))
        return try #require(try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any])
    }

    private func latest(_ scene: Scene, _ topic: String) -> String? {
        scene.publications.last { $0.topic == topic }?.text
    }

    private func problems(_ scene: Scene) throws -> [[String: String]] {
        try #require(try document(scene, "jacquard/bridge/attic/health")["problems"] as? [[String: String]])
    }

    @Test("is a problem even while another adapter is on, and ends with the fault")
    func otherAdapter() throws {
        let scene = Scene()
        scene.powerOn()
        scene.handle(.adapters([AdapterFacts(id: "hci1", address: nil, state: .poweredOn)]))
        scene.handle(.bluetoothFault(Self.cause))
        #expect(try problems(scene).map { $0["code"] } == ["no_adapter"])
        #expect(
            try problems(scene).first?["text"] == "No tag can be reached: there is no adapter hci7. plug it in")
        #expect(try document(scene, "jacquard/bridge/attic/health")["status"] as? String == "failed")
        scene.handle(.bluetoothFault(nil))
        #expect(try problems(scene).isEmpty)
    }

    @Test("is the text and the hint of the tag's error, also if the cause becomes known or changes later")
    func connection() throws {
        let scene = Scene()
        scene.powerOn()
        scene.handle(.bluetooth(.unsupported))
        let error = TagConnectionError(.bluetoothPowerOff, "Bluetooth cannot be used: unsupported")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        func shown() throws -> [String?] {
            let error = try document(scene, "jacquard/tag/003R/connection")["error"] as? [String: Any]
            return ["code", "text", "hint"].map { error?[$0] as? String }
        }
        scene.handle(.bluetoothFault(Self.cause))
        #expect(try shown() == ["bluetooth_power_off", "there is no adapter hci7", "plug it in"])
        let off = Cause(.noAdapter, .adapter, "it is off", remedies: ["switch it on"])
        scene.handle(.bluetoothFault(off))
        #expect(try shown() == ["bluetooth_power_off", "it is off", "switch it on"])
    }

    @Test("does not replace the error of a tag that has nothing to do with it")
    func otherError() throws {
        let scene = Scene()
        scene.powerOn()
        scene.handle(.bluetoothFault(Self.refusal))
        let error = TagConnectionError(.peerRemovedPairingInfo, "no bond")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        let shown = try document(scene, "jacquard/tag/003R/connection")["error"] as? [String: Any]
        #expect(shown?["text"] as? String == "no bond")
    }

    private func connection(_ scene: Scene) throws -> [String?] {
        let shown = try document(scene, "jacquard/tag/003R/connection")
        return [shown["status"] as? String, (shown["error"] as? [String: Any])?["code"] as? String]
    }

    @Test(
        "is over with it: a tag that sleeps meanwhile is not said to lack Bluetooth",
        arguments: ["always", "on_demand"])
    func over(policy: String) throws {
        let connect = try #require(TagEntry.ConnectPolicy(rawValue: policy))
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", connect: connect)])
        scene.powerOn()
        scene.handle(.bluetooth(.poweredOff))
        scene.handle(.bluetoothFault(Self.cause))
        let off = TagConnectionError(.bluetoothPowerOff, "Bluetooth cannot be used: poweredOff")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: off)))
        #expect(try connection(scene) == ["bluetooth_off", "bluetooth_power_off"])
        scene.handle(.bluetoothFault(nil))
        scene.handle(.bluetooth(.poweredOn))
        let shown = try connection(scene)
        #expect(shown[0] != "bluetooth_off" && shown[1] == nil, "\(shown)")
        #expect(try problems(scene).isEmpty)
    }

    @Test("is said of every tag that it keeps from being connected, also of one that connects on demand")
    func onDemand() throws {
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", connect: .onDemand)])
        scene.powerOn()
        scene.handle(.bluetooth(.unsupported))
        scene.handle(.bluetoothFault(Self.cause))
        #expect(try connection(scene) == ["bluetooth_off", nil])
        scene.handle(.bluetooth(.poweredOn))
        scene.handle(.bluetoothFault(nil))
        #expect(try connection(scene)[0] != "bluetooth_off")
    }

    @Test("of the scan keeps no link from going on, and is not Bluetooth that is off")
    func scanOnly() throws {
        let scene = Scene()
        scene.powerOn()
        scene.handle(.bluetoothFault(Self.refusal))
        #expect(try connection(scene) == ["out_of_range", nil])
        scene.report(.connection(TagConnection(state: .initializing(step: 2), attempt: 1)))
        #expect(try connection(scene) == ["connecting", nil])
        scene.connect()
        scene.send("bridge/attic/request/doctor", "003R")
        let answer = try #require(scene.done(.examined(HostReport(findings: [], bonds: [:]))).last)
        #expect(answer.contains(#""broken":null"#) && answer.contains(#""name":"discovery""#))
        #expect(!answer.contains(#""chain":["broker","bridge","discovery""#))
    }

    @Test(
        "is no problem of a tag that is not to be connected",
        arguments: [TagConnectionError.Code.inUse, .peerRemovedPairingInfo])
    func disabled(code: TagConnectionError.Code) throws {
        let scene = Scene()
        scene.powerOn()
        let error = TagConnectionError(code, "it cannot")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        #expect(try problems(scene).count == 1)
        scene.handle(.tagChanged(TagEntry(id: .tag003R, serial: "003R", connect: .never)))
        #expect(try problems(scene).isEmpty)
    }

    @Test("is why a command fails or waits")
    func commands() throws {
        let scene = Scene()
        scene.powerOn()
        scene.handle(.bluetoothFault(Self.cause))
        scene.handle(.bluetooth(.unsupported))
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0}"#)
        let result = try document(scene, "jacquard/tag/003R/led/result")
        let failure = try #require(result["error"] as? [String: Any])
        #expect(failure["text"] as? String == "there is no adapter hci7, so tag 003R is not connected")
        #expect(failure["hint"] as? String == "plug it in")
    }

    @Test("that leaves links alone is a finding and a problem, but stops nothing else")
    func discovery() throws {
        let scene = Scene()
        scene.powerOn()
        scene.handle(.bluetoothFault(Self.refusal))
        #expect(try problems(scene).map { $0["code"] } == ["discovery_failed"])
        #expect(try document(scene, "jacquard/bridge/attic/health")["status"] as? String == "degraded")
        scene.connect()
        #expect(latest(scene, "jacquard/tag/003R/availability") == "online")
    }
}
