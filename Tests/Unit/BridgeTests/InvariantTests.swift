import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("Invariants")
struct InvariantTests {
    private static let payloads = [
        "on", "off", "flash", "nonsense", "", "{", #"{"state":"ON","ttl_ms":0}"#, #"{"state":"ON","ttl_ms":300}"#,
        #"{"state":"ON","state":"OFF"}"#, #"{"id":1}"#, "short", "continuous", #"{"pattern":"long"}"#,
        "connect", "disconnect", "stop", "003R", "0001", "debug", #"{"id":"003R"}"#, #"{"key":"k"}"#,
    ]
    private static let topics = [
        "tag/003R/led/set", "tag/003R/haptic/set", "tag/003R/touch_mode/set", "tag/003R/battery/get",
        "tag/003R/sleep/set", "tag/003R/rssi/get", "tag/003R/connection/set", "tag/003R/config/get", "tag/9999/led/set",
        "tag/0001/led/set", "bridge/attic/request/scan", "bridge/attic/request/pair", "bridge/attic/request/forget",
        "bridge/attic/request/tags", "bridge/attic/request/health", "bridge/attic/request/log_level",
        "bridge/attic/request/doctor", "bridge/attic/request/log", "bridge/attic/request/refresh",
        "bridge/attic/request/reboot",
    ]
    private static let ends: [Result<TagCommandResponse, TagCommandError>] = [
        .success(.done), .success(.battery(BatteryStatus(level: 1, isCharging: true))), .failure(.timeout),
        .failure(.linkLost), .failure(.notConnected), .failure(.status(.busy)),
    ]

    private static let answers: [Result<RequestResponse, RequestError>] = [
        .success(.done), .success(.paired(address: "F0", name: nil)),
        .success(.examined(HostReport(findings: []))),
        .success(.measured(HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0))),
        .failure(.notFound), .failure(.bluetoothUnavailable(.poweredOff)), .failure(.timeout(text: "no response")),
    ]
    private static let policies = TagEntry.ConnectPolicy.allCases
    private static let tags = [TagID.tag003R, .known("0001")]

    @Test("every command has one final result, and unknown tokens are ignored", arguments: 0..<60)
    func oneResult(seed: Int) {
        var generator = SplitMix(seed: UInt64(seed))
        let policy = Self.policies.randomElement(using: &generator) ?? .always
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", connect: policy)], commandsPerTag: 4)
        var commands = 0
        var open: [UInt64] = []
        for _ in 0..<300 {
            let known = scene.tokens.count
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<5:
                commands += 1
                scene.send(
                    Self.topics.randomElement(using: &generator) ?? "",
                    Self.payloads.randomElement(using: &generator) ?? "")
            case 5: happen(scene, using: &generator)
            case 6: scene.report(.connection(Self.connection(using: &generator)), of: Self.tag(using: &generator))
            case 7: scene.wait(.milliseconds(Int.random(in: 0..<4_000, using: &generator)))
            default:
                guard let index = open.indices.randomElement(using: &generator) else { break }
                answer(open.remove(at: index), in: scene, using: &generator)
            }
            open += scene.tokens[known...]
        }
        scene.handle(.stopping)
        #expect(scene.results.filter(\.final).count == commands)
        #expect(scene.state.leftovers.departures.isEmpty)
    }

    /// An event without a preceding request.
    private func happen(_ scene: Scene, using generator: inout SplitMix) {
        switch Int.random(in: 0..<5, using: &generator) {
        case 4: scene.handle(.duplicateSerial("003R", addresses: ["F0", "F1"]))
        case 0:
            let state = AdapterFacts.State.allCases.randomElement(using: &generator) ?? .unknown
            scene.handle(.bluetooth(state))
        case 1: scene.handle(.scanEnded)
        case 2: scene.handle(.tagAdded(TagEntry(id: .known("0001"), serial: "0001")))
        default:
            let tag = TagAdvertisement(
                address: "F\(Int.random(in: 0..<3, using: &generator))", serial: "003R", name: nil, rssi: nil)
            scene.handle(.advertisement(tag))
        }
    }

    /// Answers every token, possibly with an unexpected answer, and then an unknown token.
    private func answer(_ token: UInt64, in scene: Scene, using generator: inout SplitMix) {
        let end = Self.ends.randomElement(using: &generator) ?? .success(.done)
        for tag in Self.tags { scene.report(.commandEnded(token: token, end), of: tag) }
        let answer = Self.answers.randomElement(using: &generator) ?? .success(.done)
        scene.handle(.requestEnded(token: token, answer))
        scene.report(.commandEnded(token: UInt64.max, .success(.done)))
        scene.handle(.requestEnded(token: UInt64.max, .success(.done)))
    }

    private static func tag(using generator: inout SplitMix) -> TagID {
        tags.randomElement(using: &generator) ?? .tag003R
    }

    private static func connection(using generator: inout SplitMix) -> TagConnection {
        let states: [TagConnection.State] = [.preparingToConnect, .connecting(step: 1), .connected, .disconnected]
        let error = TagConnectionError(.peerRemovedPairingInfo, "No bond")
        return TagConnection(
            state: states.randomElement(using: &generator) ?? .connected, attempt: 1,
            error: Bool.random(using: &generator) ? error : nil)
    }

    @Test("invalid bytes are rejected", arguments: 0..<200)
    func noise(seed: Int) {
        var generator = SplitMix(seed: UInt64(seed))
        let scene = Scene.connected()
        let alphabet = Array(#"{}[]":,\/u0019aeE+-. tfn"#.utf8) + [0, 0x80, 0xC3, 0xE2, 0xF0, 0xFF]
        for _ in 0..<20 {
            let length = Int.random(in: 0..<64, using: &generator)
            let bytes = (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let results = scene.results.count
            scene.receive(MQTTMessage(topic: "jacquard/tag/003R/led/set", payload: bytes))
            #expect(scene.results.count == results + 1)
            scene.receive(MQTTMessage(topic: "jacquard/bridge/zoo/info", payload: bytes))
            scene.receive(MQTTMessage(topic: String(decoding: bytes, as: UTF8.self), payload: bytes))
        }
    }
}
