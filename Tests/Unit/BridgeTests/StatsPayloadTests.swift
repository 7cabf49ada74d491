import JSON
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Statistics")
struct StatsPayloadTests {
    @Test(
        "have the bytes of JSONText",
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
        let document = JSONText.objectBytes { object in
            object.add("boot", boot)
            object.add("expired", number / 2)
            object.add("gestures", Dictionary(gestures.map { ($0.rawValue, 1) }, uniquingKeysWith: +))
            object.add("last_seq", number)
            object.add("lost_fragments", number / 3)
            object.add("reconnects", number / 4)
            object.add("time", Scene.beginning)
        }
        let bytes = StatsPayload(boot: boot).bytes(of: counters, at: Scene.beginning)
        #expect(bytes == document)
    }
}
