import JacquardProtocol
import Testing
import Time

/// Bytes that no tag would send. What is read all the same must be a message: written and read again, it is the same.
@Suite("Hostile bytes")
struct HostileBytesTests {
    /// One packet of every message there is.
    static let packets: [[UInt8]] =
        (Example<Request>.everyday + Example<Request>.whole).map { $0.message.encoded(id: 1) }
        + (Example<Response>.all + Example<Response>.store).map { $0.message.encoded() }
        + Example<Notification>.all.map { $0.message.encoded() }

    @Test("never trap in a truncated packet", arguments: packets)
    func truncated(packet: [UInt8]) throws {
        for length in packet.indices {
            try read(packet[..<length])
        }
    }

    @Test("never trap at a wrong byte", arguments: packets)
    func wrongByte(packet: [UInt8]) throws {
        var numbers = SplitMix(seed: UInt64(packet.count))
        for index in packet.indices {
            var packet = packet
            for byte in [0x00, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &numbers)] {
                packet[index] = byte
                try read(packet[...])
            }
        }
    }

    @Test("never trap if all are random", arguments: 0..<20)
    func random(seed: UInt64) throws {
        var numbers = SplitMix(seed: seed)
        for _ in 0..<500 {
            let length = Int.random(in: 0...80, using: &numbers)
            try read((0..<length).map { _ in UInt8.random(in: 0...255, using: &numbers) }[...])
        }
    }

    @Test("never trap as fragments, and never make a packet above 1,024 bytes", arguments: 0..<20)
    func fragments(seed: UInt64) {
        var numbers = SplitMix(seed: seed)
        var reassembler = Reassembler()
        for _ in 0..<500 {
            let length = Int.random(in: 0...61, using: &numbers)
            let fragment = (0..<length).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            if case .packet(let packet) = reassembler.receive(fragment) {
                #expect((1...1024).contains(packet.count))
            }
        }
    }

    /// Compares bytes and not messages: a number that is NaN is not equal to itself.
    private func read(_ packet: ArraySlice<UInt8>) throws {
        if let (id, request) = try? Request.decode(packet) {
            let written = request.encoded(id: id)
            #expect(try Request.decode(written[...]).request.encoded(id: id) == written)
        }
        if let response = try? Response.decode(packet) {
            let written = response.encoded()
            #expect(try Response.decode(written[...]).encoded() == written)
        }
        if let notification = try? Notification.decode(packet) {
            let written = notification.encoded()
            #expect(try Notification.decode(written[...]).encoded() == written)
        }
    }
}
