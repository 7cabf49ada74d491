import JacquardProtocol
import Testing

@testable import Bridge

/// Numbers that are the same in every run: a linear congruential generator with Knuth's constants.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) {
        state = UInt64(truncatingIfNeeded: seed)
    }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

@Suite("Whatever happens")
struct InvariantTests {
    private static let payloads = [
        "on", "off", "flash", "nonsense", "", "{", #"{"state":"ON","ttl_ms":0}"#, #"{"state":"ON","ttl_ms":300}"#,
        #"{"state":"ON","state":"OFF"}"#, #"{"id":1}"#, "short", "continuous", #"{"pattern":"long"}"#,
    ]
    private static let topics = [
        "tag/003R/led/set", "tag/003R/haptic/set", "tag/003R/touch_mode/set", "tag/003R/battery/get",
        "tag/003R/sleep/set", "tag/9999/led/set", "bridge/attic/request/scan",
    ]
    private static let ends: [Result<TagCommandAnswer, TagCommandError>] = [
        .success(.done), .success(.battery(BatteryStatus(level: 1, isCharging: true))), .failure(.timeout),
        .failure(.linkLost), .failure(.notConnected), .failure(.status(.busy)),
    ]

    @Test("every command has one final result, and tokens that are not pending do no harm", arguments: 0..<40)
    func oneResult(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        var scene = Scene(commandsPerTag: 4)
        var commands = 0
        var open: [UInt64] = []
        for _ in 0..<300 {
            let known = scene.tokens.count
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                commands += 1
                scene.send(
                    Self.topics.randomElement(using: &generator) ?? "",
                    Self.payloads.randomElement(using: &generator) ?? "")
            case 5: scene.connect()
            case 6: scene.disconnect()
            case 7: scene.wait(.milliseconds(Int.random(in: 0..<4_000, using: &generator)))
            default:
                guard let index = open.indices.randomElement(using: &generator) else { break }
                let token = open.remove(at: index)
                scene.tell(.commandEnded(token: token, Self.ends.randomElement(using: &generator) ?? .success(.done)))
                scene.tell(.commandEnded(token: UInt64.max, .success(.done)))
            }
            open += scene.tokens[known...]
        }
        scene.note(scene.state.stop(at: scene.now))
        #expect(scene.results.filter(\.final).count == commands)
    }

    @Test("bytes that nobody should send do no harm", arguments: 0..<200)
    func noise(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        var scene = Scene.connected()
        let alphabet = Array(#"{}[]":,\/u0019aeE+-. tfn"#.utf8) + [0, 0x80, 0xC3, 0xE2, 0xF0, 0xFF]
        for _ in 0..<20 {
            let length = Int.random(in: 0..<64, using: &generator)
            let bytes = (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let results = scene.results.count
            scene.receive(IncomingMessage(topic: "jacquard/tag/003R/led/set", payload: bytes))
            #expect(scene.results.count == results + 1)
            scene.receive(IncomingMessage(topic: "jacquard/bridge/zoo/info", payload: bytes))
            scene.receive(IncomingMessage(topic: String(decoding: bytes, as: UTF8.self), payload: bytes))
        }
    }
}
