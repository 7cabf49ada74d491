import JacquardProtocol
import Testing

@Suite("Reassembler")
struct ReassemblerTests {
    /// The outcome of each fragment, and the number of lost packets.
    private func outcomes(_ fragments: [[UInt8]]) -> ([Reassembler.Outcome], lost: Int) {
        var reassembler = Reassembler()
        let outcomes = fragments.map { reassembler.receive($0) }
        return (outcomes, reassembler.lostPackets)
    }

    @Test("delivers a packet of one fragment")
    func oneFragment() {
        let (outcomes, lost) = outcomes([[0xC0, 5, 1, 2, 3, 4, 5]])
        #expect(outcomes == [.packet([1, 2, 3, 4, 5])])
        #expect(lost == 0)
    }

    @Test("delivers a packet of three fragments with its last one")
    func threeFragments() {
        let (outcomes, lost) = outcomes([[0x80, 5, 1, 2], [0x01, 3, 4], [0x42, 5]])
        #expect(outcomes == [.incomplete, .incomplete, .packet([1, 2, 3, 4, 5])])
        #expect(lost == 0)
    }

    @Test("accepts a first fragment with any counter, and continues from it")
    func counterOfFirst() {
        #expect(outcomes([[0xC9, 1, 7]]).0 == [.packet([7])])
        #expect(outcomes([[0xBF, 2, 7], [0x40, 8]]).0 == [.incomplete, .packet([7, 8])])
    }

    @Test("accepts a last fragment without data")
    func emptyLast() {
        #expect(outcomes([[0x80, 2, 7, 8], [0x41]]).0 == [.incomplete, .packet([7, 8])])
    }

    @Test("drops the whole packet if a fragment is missing, and accepts the next one")
    func missing() {
        let (outcomes, lost) = outcomes([[0x80, 5, 1, 2], [0x42, 5], [0xC0, 1, 9]])
        let reason = Reassembler.Reason.unexpectedCounter(expected: 1, received: 2)
        #expect(outcomes == [.incomplete, .dropped(reason), .packet([9])])
        #expect(lost == 1)
    }

    @Test("drops a repeated fragment")
    func doubled() {
        let (outcomes, lost) = outcomes([[0x80, 5, 1, 2], [0x01, 3, 4], [0x01, 3, 4], [0x42, 5]])
        let reason = Reassembler.Reason.unexpectedCounter(expected: 2, received: 1)
        #expect(outcomes == [.incomplete, .incomplete, .dropped(reason), .dropped(.noFirstFragment)])
        #expect(lost == 1)
    }

    @Test("counts a packet once whose first fragment is missing")
    func missingFirst() {
        let (outcomes, lost) = outcomes([[0x01, 3], [0x02, 4], [0x43, 5], [0x41, 9]])
        #expect(outcomes == Array(repeating: .dropped(.noFirstFragment), count: 4))
        #expect(lost == 2)
    }

    @Test("drops a packet when the next one begins, and does not continue it later")
    func interrupted() {
        let (outcomes, lost) = outcomes([[0x80, 60, 1, 2], [0xC0, 5, 1, 2, 3, 4, 5], [0x01, 3]])
        #expect(outcomes == [.incomplete, .packet([1, 2, 3, 4, 5]), .dropped(.noFirstFragment)])
        #expect(lost == 2)
    }

    @Test(
        "drops a packet whose length differs from its header",
        arguments: [
            ([[0xC0, 3, 1, 2, 3, 4, 5]], 3, 5),
            ([[0xC0, 3, 1, 2]], 3, 2),
            ([[0x80, 3, 1, 2], [0x41, 3, 4]], 3, 4),
            // Too long before the last fragment: no need to wait for it.
            ([[0x80, 3, 1, 2, 3, 4]], 3, 4),
        ] as [([[UInt8]], Int, Int)])
    func lengthMismatch(fragments: [[UInt8]], declared: Int, collected: Int) {
        let (outcomes, lost) = outcomes(fragments)
        #expect(outcomes.last == .dropped(.lengthMismatch(declared: declared, collected: collected)))
        #expect(lost == 1)
    }

    @Test(
        "drops a packet without a length from 1 to 1,024",
        arguments: [
            [0xC0], [0x80],  // none
            [0xC0, 0x80], [0x80, 0xFF, 0xFF],  // without its end
            [0xC0, 0x00], [0xC0, 0x00, 0x75, 0xFF],  // 0, as in a stream of motion data
            [0x80, 0x81, 0x08, 1],  // 1,025
            [0xC0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 1],  // more than an Int can hold
        ] as [[UInt8]])
    func invalidLength(fragment: [UInt8]) {
        #expect(outcomes([fragment]).0 == [.dropped(.invalidLength)])
    }

    @Test("ignores an empty value, even inside a packet")
    func empty() {
        let (outcomes, lost) = outcomes([[0x80, 3, 1, 2], [], [0x41, 3]])
        #expect(outcomes == [.incomplete, .dropped(.emptyFragment), .packet([1, 2, 3])])
        #expect(lost == 0)
    }

    @Test("reassembles a real tag's device information")
    func realTag() throws {
        // 79 bytes in 61 and 20; the middle is not published, zeros stand for it.
        let first = [UInt8](hex: "80 4F 08 03 10 00 18 00 BA 06 46 0A 0B") + [UInt8](repeating: 0, count: 48)
        let second = [UInt8](hex: "41 38 06 40 01 48 00 50 00 58 C8 E1 E0 8B 01 60 A0 CF EF C1 02")
        let (outcomes, _) = outcomes([first, second])
        #expect(outcomes == [.incomplete, .packet((first.dropFirst(2) + second.dropFirst())[...])])
    }

    @Test("counts a packet as lost whose first fragment is missing, right after a whole one too")
    func missingFirstAfterPacket() {
        let (outcomes, lost) = outcomes([[0x80, 3, 1, 2], [0x41, 3], [0x41, 9]])
        #expect(outcomes == [.incomplete, .packet([1, 2, 3]), .dropped(.noFirstFragment)])
        #expect(lost == 1)
    }
}
