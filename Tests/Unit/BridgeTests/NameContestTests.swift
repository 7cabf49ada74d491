import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("Another client with the bridge's name")
struct NameContestTests {
    private static let info = "jacquard/bridge/attic/info"

    private func receive(_ boot: String, in scene: Scene) -> [String] {
        let payload = Array(#"{"boot":"\#(boot)","instance":"attic","tags":[]}"#.utf8)
        return scene.handle(.message(MQTTMessage(topic: Self.info, payload: payload, qos: .atLeastOnce)))
    }

    private func health(_ scene: Scene) -> String {
        scene.publications.last { $0.topic == "jacquard/bridge/attic/health" }?.text ?? ""
    }

    private func measure(_ scene: Scene) -> [String] {
        scene.handle(
            .measured(HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)))
    }

    @Test("a document of an earlier run, before this one has published its own, is no evidence")
    func earlierRun() {
        let scene = Scene()
        scene.handle(.started)
        for _ in 0..<3 { #expect(receive("0000", in: scene).isEmpty) }
        let isContested = scene.state.isNameContested(at: scene.now)
        #expect(!isContested)
    }

    @Test("one document of another run is no evidence: a broker may have restored a backup")
    func backup() {
        let scene = Scene()
        scene.handle(.started)
        _ = receive("9f3c", in: scene)
        let answer = receive("0000", in: scene)
        #expect(answer.contains { $0.hasPrefix(Self.info) }, "it is answered, so that a living one shows itself")
        _ = receive("9f3c", in: scene)
        #expect(!health(scene).contains("client_id_in_use"))
    }

    @Test("two documents of another run are a problem that names the identifier, until four minutes after the last one")
    func otherBridge() {
        let scene = Scene()
        scene.handle(.started)
        _ = receive("9f3c", in: scene)
        _ = receive("0000", in: scene)
        scene.wait(.seconds(60))
        _ = receive("0000", in: scene)
        #expect(health(scene).contains(#""code":"client_id_in_use""#))
        #expect(health(scene).contains("the client identifier jacquard-attic"))
        #expect(health(scene).contains("give one of the two another instance"))
        let isContested = scene.state.isNameContested(at: scene.now)
        #expect(isContested)
        let repeated = measure(scene)
        #expect(repeated.contains { $0.hasPrefix(Self.info) }, "the other one sees this one, too")
        scene.wait(.seconds(180))
        _ = measure(scene)
        #expect(health(scene).contains("client_id_in_use"))
        scene.wait(.seconds(60))
        let last = measure(scene)
        #expect(!last.contains { $0.hasPrefix(Self.info) })
        #expect(health(scene).contains(#""status":"ok""#))
        for _ in 1...2 { scene.handle(.identifierTaken) }
        #expect(health(scene).contains("Another client connects"), "the bridge is forgotten")
    }

    @Test("a session that was taken over twice is a problem without another bridge")
    func otherClient() {
        let scene = Scene()
        scene.handle(.identifierTaken)
        #expect(!health(scene).contains("client_id_in_use"))
        scene.handle(.identifierTaken)
        #expect(health(scene).contains("Another client connects with the client identifier jacquard-attic"))
        scene.wait(.seconds(240))
        _ = measure(scene)
        #expect(health(scene).contains(#""status":"ok""#))
    }

    @Test("each further take-over prolongs the problem")
    func goesOn() {
        let scene = Scene()
        for _ in 0..<4 {
            scene.handle(.identifierTaken)
            scene.wait(.seconds(180))
        }
        _ = measure(scene)
        #expect(health(scene).contains("client_id_in_use"))
    }

    @Test("request/doctor reports it as failed, with what to change")
    func finding() {
        let scene = Scene()
        scene.handle(.identifierTaken)
        scene.handle(.identifierTaken)
        let finding = BridgeFindings(of: scene.state, at: scene.now).all(with: HostReport(findings: []), tag: nil)
            .first { $0.check == .broker }
        #expect(finding?.verdict == .failed)
        #expect(finding?.found.contains("jacquard-attic") == true)
        #expect(finding?.remedies.first?.contains("mqtt.client_id") == true)
    }
}
