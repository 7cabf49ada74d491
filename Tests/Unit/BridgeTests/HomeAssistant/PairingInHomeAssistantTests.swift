import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("Pairing from a user interface")
struct PairingInHomeAssistantTests {
    private static let topic = "jacquard/bridge/attic/pairing"

    private func scene() -> Scene {
        let scene = Scene.announced()
        scene.powerOn()
        _ = scene.takeActions()
        return scene
    }

    /// The values of these keys of `G/pairing`.
    private func pairing(_ scene: Scene, _ keys: String...) -> [String] {
        let document = scene.publications.last { $0.topic == Self.topic }.flatMap { JSONValue(parsing: $0.payload) }
        return keys.map { key in
            switch document?[key] {
            case .string(let text)?: text
            case .null?: "null"
            case .object(let error)?: error["code"]?.text ?? "no code"
            default: "missing"
            }
        }
    }

    @Test("is a fact from the start, with the state idle")
    func beginning() {
        #expect(
            Scene.announced().publications.first { $0.topic == Self.topic }?.line
                == Self.topic + #" {"address":null,"error":null,"hint":null,"request_serial":null,"serial":null,"#
                + #""state":"idle","time":null}"#)
    }

    @Test("pairs the serial that was set before, shows each stage, and clears the serial")
    func pairs() {
        let scene = scene()
        let lines = scene.send("bridge/attic/request/pair_serial", "0001")
        #expect(lines.last?.contains(#""data":{"serial":"0001"}"#) == true)
        #expect(pairing(scene, "request_serial", "state") == ["0001", "idle"])
        scene.send("bridge/attic/request/pair", "{}")
        #expect(scene.takeActions() == [.pair(2, serial: "0001", timeout: .seconds(60), token: 2)])
        #expect(
            pairing(scene, "state", "serial", "hint")
                == ["searching", "0001", "Hold the tag's button for three seconds: it then advertises for 60 seconds"])
        for (stage, state) in [
            (.found(address: "F0"), "found"), (.pairing, "pairing"), (.connecting, "connecting"),
        ] as [(PairingStage, String)] {
            scene.handle(.pairing(2, stage))
            #expect(pairing(scene, "state", "address", "hint") == [state, "F0", "null"])
        }
        scene.done(.paired(address: "F0", name: "Jacquard-0001"))
        #expect(pairing(scene, "state", "serial", "request_serial", "error") == ["paired", "0001", "null", "null"])
        #expect(scene.results.map(\.status) == ["ok", "ok"])
    }

    @Test("shows the failure and a hint, and keeps the serial for another attempt")
    func failure() {
        let scene = scene()
        scene.send("bridge/attic/request/pair_serial", #"{"serial":"0001"}"#)
        scene.send("bridge/attic/request/pair", "")
        scene.notDone(.notFound)
        #expect(
            pairing(scene, "state", "error", "hint", "request_serial") == [
                "failed", "expired",
                "Hold the tag's button for three seconds near the adapter: it then advertises for 60 seconds", "0001",
            ])
        scene.send("bridge/attic/request/pair_serial", "0002")
        #expect(pairing(scene, "state", "error", "request_serial") == ["idle", "null", "0002"])
    }

    @Test("shows a request that was refused, with one result", arguments: [true, false])
    func refused(isBluetoothOn: Bool) {
        let scene = Scene.announced()
        scene.handle(.bluetooth(isBluetoothOn ? .poweredOn : .poweredOff))
        if !isBluetoothOn { scene.send("bridge/attic/request/pair_serial", "0001") }
        let count = scene.results.count
        scene.send("bridge/attic/request/pair", "{}")
        #expect(scene.results.count == count + 1)
        let code = isBluetoothOn ? "invalid_argument" : "not_permitted"
        #expect(scene.lastError?.code == code)
        #expect(pairing(scene, "state", "error") == ["failed", code])
    }

    @Test("shows a request that waited for Bluetooth without success")
    func neverReady() {
        let scene = Scene.announced()
        scene.send("bridge/attic/request/pair_serial", "0001")
        scene.send("bridge/attic/request/pair", "")
        scene.wait(.seconds(20))
        #expect(pairing(scene, "state", "error") == ["failed", "not_permitted"])
    }

    @Test("does not show a second request for the same tag as a failure of the first")
    func secondRequest() {
        let scene = scene()
        scene.send("bridge/attic/request/pair", "0001")
        scene.send("bridge/attic/request/pair", "0001")
        #expect(scene.lastError?.code == "busy")
        #expect(pairing(scene, "state") == ["searching"])
    }

    @Test("rejects invalid and retained serials, and clears it for an empty payload")
    func serials() {
        let scene = scene()
        scene.send("bridge/attic/request/pair_serial", "0001")
        for serial in ["00_1", "001", "00010", #"{"serial":"00010"}"#] {
            scene.send("bridge/attic/request/pair_serial", serial)
            #expect(scene.lastError?.code == "invalid_argument", "\(serial)")
        }
        scene.receive("jacquard/bridge/attic/request/pair_serial", "0002", isRetained: true)
        #expect(scene.lastError?.code == "retained_rejected")
        #expect(pairing(scene, "request_serial") == ["0001"])
        scene.send("bridge/attic/request/pair_serial", "")
        #expect(pairing(scene, "request_serial") == ["null"])
    }

    @Test("has failed when the bridge stops meanwhile")
    func stop() {
        let scene = scene()
        scene.send("bridge/attic/request/pair", "0001")
        scene.handle(.stopping)
        #expect(pairing(scene, "state") == ["failed"])
    }
}
