import JacquardProtocol
import Testing
import Time

@Suite("Hostile bytes to a session")
struct SessionHostileBytesTests {
    @Test("never trap in any state, and keep the invariants", arguments: SessionPhase.allCases)
    func random(phase: SessionPhase) {
        var numbers = SplitMix(seed: 1)
        var tag = SessionFixture(in: phase)
        for _ in 0..<3000 {
            let characteristic: TagCharacteristic = Bool.random(using: &numbers) ? .notify : .response
            _ = tag.on(.received(Self.value(&numbers), on: characteristic))
        }
        #expect(tag.complaints == [])
    }

    /// Half of them are whole packets that begin like a message, so that more than the first byte is looked at.
    private static func value(_ numbers: inout SplitMix) -> [UInt8] {
        let bytes = (0..<Int.random(in: 0...58, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers)
        }
        guard Bool.random(using: &numbers) else { return bytes }
        let fields: [[UInt8]] = [
            [0xEA, 0x06], [0xAA, 0x39], [0xCA, 0x07], [0xDA, 0x38], [0xA2, 0x06], [0xBA, 0x06],
        ]
        let field = fields[Int.random(in: fields.indices, using: &numbers)]
        let body = bytes.prefix(40)
        let packet = [0x08, UInt8.random(in: 0...9, using: &numbers), 0x10, 0] + field + [UInt8(body.count)] + body
        return [0xC0, UInt8(packet.count)] + packet
    }
}
