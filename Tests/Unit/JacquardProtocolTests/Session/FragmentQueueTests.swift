import JacquardProtocol
import Testing
import Time

@testable import struct JacquardProtocol.FragmentQueue

@Suite("Fragment queue")
struct FragmentQueueTests {
    private let now = Instant(sinceBoot: .seconds(3_600))

    @Test("returns a packet's fragments one after the other", arguments: [(1, 1), (59, 1), (60, 2), (1024, 18)])
    func fragments(length: Int, count: Int) throws {
        let packet = FragmenterTests.packet(length)
        let fragments = try Fragmenter.fragments(of: packet)
        #expect(fragments.count == count)
        var queue = FragmentQueue()
        #expect(queue.send(packet, confirmedBy: now) == fragments[0])
        for fragment in fragments.dropFirst() {
            #expect(queue.isWriting)
            #expect(queue.written(nextConfirmedBy: now) == fragment)
        }
        #expect(queue.isWriting)
        #expect(queue.written(nextConfirmedBy: now) == nil)
        #expect(!queue.isWriting)
    }

    @Test("has the time limit of a write")
    func deadline() {
        var queue = FragmentQueue()
        #expect(queue.deadline == nil)
        _ = queue.send(FragmenterTests.packet(60), confirmedBy: now)
        #expect(queue.deadline == now)
        _ = queue.written(nextConfirmedBy: now + .seconds(1))
        #expect(queue.deadline == now + .seconds(1))
        _ = queue.written(nextConfirmedBy: now + .seconds(2))
        #expect(queue.deadline == nil)
    }

    @Test("drops the rest of a packet, and waits for the pending write")
    func abandon() {
        var queue = FragmentQueue()
        _ = queue.send(FragmenterTests.packet(60), confirmedBy: now)
        queue.abandon()
        #expect(queue.isWriting)
        #expect(queue.written(nextConfirmedBy: now) == nil)
        #expect(!queue.isWriting)
    }

    @Test("refuses a packet that is too long", arguments: [0, 1025])
    func refusal(length: Int) {
        var queue = FragmentQueue()
        #expect(queue.send(FragmenterTests.packet(length), confirmedBy: now) == nil)
        #expect(!queue.isWriting)
    }
}
