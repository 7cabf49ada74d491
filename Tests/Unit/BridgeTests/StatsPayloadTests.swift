import JSON
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Statistics")
struct StatsPayloadTests {
    private struct Document: Encodable {
        let boot: String
        let gestures: [String: UInt64]
        let lastSequence: UInt64
        let expired: UInt64
        let lostFragments: UInt64
        let reconnects: UInt64
        let time: String

        private enum CodingKeys: String, CodingKey {
            case boot, gestures, expired, reconnects, time
            case lastSequence = "last_seq"
            case lostFragments = "lost_fragments"
        }
    }

    @Test(
        "have the same bytes as the encoder's output",
        arguments: [
            ("9f3c", [], 0), (#"q"\/"#, [.unknown], .max), ("ä\u{1}", GestureName.allCases + [.cover, .brushDown], 7),
        ] as [(String, [GestureName], UInt64)])
    func encoder(boot: String, gestures: [GestureName], number: UInt64) {
        var counters = TagCounters()
        for gesture in gestures { counters.gestures.add(gesture) }
        counters.lastSequence = number
        counters.expired = number / 2
        counters.lostFragments = number / 3
        counters.reconnects = number / 4
        let document = Document(
            boot: boot, gestures: Dictionary(gestures.map { ($0.rawValue, 1) }, uniquingKeysWith: +),
            lastSequence: number, expired: number / 2, lostFragments: number / 3, reconnects: number / 4,
            time: Scene.beginning.text)
        let bytes = StatsPayload(boot: boot).bytes(of: counters, at: Scene.beginning)
        #expect(bytes == JSONText.bytes(of: document))
    }
}
