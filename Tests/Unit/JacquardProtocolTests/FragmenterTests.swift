import JacquardProtocol
import Testing

@Suite("Fragmenter")
struct FragmenterTests {
    /// A packet of the bytes 1, 2, 3 and so on.
    static func packet(_ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: $0 + 1) }
    }

    @Test(
        "splits a packet into fragments of 61 bytes",
        arguments: [
            // One full fragment is 59 bytes with a length of one byte.
            (5, [[0xC0, 5] + packet(5)]),
            (59, [[0xC0, 0x3B] + packet(59)]),
            (60, [[0x80, 0x3C] + packet(59), [0x41, 0x3C]]),
            (119, [[0x80, 0x77] + packet(59), [0x41] + packet(119)[59...]]),
            (120, [[0x80, 0x78] + packet(59), [0x01] + packet(119)[59...], [0x42, 0x78]]),
            // From 128 on the length takes two bytes.
            (178, [[0x80, 0xB2, 0x01] + packet(58), [0x01] + packet(118)[58...], [0x42] + packet(178)[118...]]),
        ] as [(Int, [[UInt8]])])
    func cutting(length: Int, fragments: [[UInt8]]) throws {
        #expect(try Fragmenter.fragments(of: Self.packet(length)) == fragments)
    }

    @Test("splits the longest packet into 18 fragments, or 54 at the smallest MTU")
    func longest() throws {
        let fragments = try Fragmenter.fragments(of: Self.packet(1024))
        #expect(fragments.map { $0[0] } == [0x80] + (1...16) + [0x51])
        #expect(fragments.dropLast().allSatisfy { $0.count == 61 })
        let short = try Fragmenter.fragments(of: Self.packet(1024), maximumLength: 20)
        #expect(short.map { $0[0] } == [0x80] + (1...52) + [0x75])
        #expect(short.dropLast().allSatisfy { $0.count == 20 })
    }

    @Test("refuses a packet that is too long")
    func refusal() {
        #expect(throws: FramingError.emptyPacket) { try Fragmenter.fragments(of: []) }
        #expect(throws: FramingError.packetTooLong(1025)) { try Fragmenter.fragments(of: Self.packet(1025)) }
        #expect(throws: FramingError.fragmentTooShort(19)) {
            try Fragmenter.fragments(of: [1], maximumLength: 19)
        }
        #expect(throws: FramingError.fragmentTooShort(-1)) {
            try Fragmenter.fragments(of: [1], maximumLength: -1)
        }
    }

    @Test("produces what the reassembler accepts, at every length", arguments: [20, 61, 244])
    func roundTrip(maximumLength: Int) throws {
        var reassembler = Reassembler()
        for length in 1...1024 {
            let packet = Self.packet(length)
            let fragments = try Fragmenter.fragments(of: packet, maximumLength: maximumLength)
            for fragment in fragments.dropLast() {
                #expect(reassembler.receive(fragment) == .incomplete)
            }
            #expect(reassembler.receive(fragments[fragments.count - 1]) == .packet(packet[...]))
        }
        #expect(reassembler.lostPackets == 0)
    }
}
