import Bluetooth
import Testing
import Time

@testable import BlueZ

@Suite("Times of the central")
struct CentralTimingTests {
    @Test("have the values that the documentation of each names")
    func defaults() {
        let timing = Timing()
        #expect(
            [timing.call, timing.connect, timing.connectUnheard, timing.connectContended]
                == [10, 45, 8, 10].map { .seconds($0) })
        #expect(
            [timing.acquire, timing.probe, timing.afterBond, timing.bond, timing.taken, timing.pair]
                == [6, 3, 1, 10, 2, 60].map { .seconds($0) })
        #expect([timing.resolving, timing.grace, timing.linkEnd, timing.busy] == [30, 3, 2, 5].map { .seconds($0) })
        #expect([timing.busyPause, timing.longestBusyPause] == [.milliseconds(10), .milliseconds(320)])
        #expect([timing.firstPause, timing.longestPause, timing.silence] == [1, 60, 180].map { .seconds($0) })
        #expect(
            [timing.queue.unheard, timing.queue.repetition, timing.queue.memory] == [15, 60, 30].map { .seconds($0) })
        #expect(timing.descriptorPause == .milliseconds(50))
        #expect([FormerLinks.grace, FormerLinks.patience] == [2, 3].map { .seconds($0) })
    }

    @Test("and its limits that other tests take from the code have the documented values")
    func numbers() {
        #expect([BondWatch.enough, SearchFilter.enough, ForeignLinks.most] == [3, 2, 2])
        #expect(Subscriptions.mostReplacements == 9)
    }
}

@Suite("Connect queue")
struct ConnectQueueTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private let a = CentralBench.address(1)
    private let b = CentralBench.address(2)
    private let c = CentralBench.address(3)

    private func turn(_ address: BluetoothAddress, isHeard: Bool = true) -> ConnectQueue.Turn {
        ConnectQueue.Turn(address: address, isHeard: isHeard)
    }

    @Test("takes the device that was received and has waited longest")
    func order() {
        var queue = ConnectQueue()
        for address in [a, b, c] { queue.add(address, isHeard: false, at: start) }
        queue.heard(c, at: start)
        queue.heard(b, at: start)
        #expect(queue.next(at: start) { _ in true } == turn(b))
        #expect(queue.next(at: start) { _ in true } == turn(c))
        #expect(queue.next(at: start) { _ in true } == nil)
        #expect(!queue.isEmpty)
    }

    @Test("skips devices that BlueZ does not know")
    func unknown() {
        var queue = ConnectQueue()
        queue.add(a, isHeard: true, at: start)
        queue.add(b, isHeard: true, at: start)
        #expect(queue.next(at: start) { $0 == b } == turn(b))
        #expect(queue.next(at: start) { $0 == b } == nil)
    }

    @Test("does not try a device before its pause is over, received or not")
    func notBefore() {
        var queue = ConnectQueue()
        queue.add(a, isHeard: true, notBefore: start + .seconds(20), at: start)
        queue.add(b, isHeard: true, at: start)
        #expect(queue.next(at: start) { _ in true } == turn(b))
        #expect(queue.next(at: start + .milliseconds(19_999)) { _ in true } == nil)
        #expect(queue.next(at: start + .seconds(20)) { _ in true } == turn(a))
        queue.add(c, isHeard: false, notBefore: start + .seconds(20), at: start)
        #expect(queue.deadline == start + .seconds(35))
    }

    @Test("treats a device as absent some time after its last advertisement")
    func memory() {
        var queue = ConnectQueue()
        queue.add(a, isHeard: true, at: start)
        #expect(queue.next(at: start + .seconds(14)) { _ in false } == nil)
        #expect(queue.next(at: start + .seconds(31)) { _ in true } == turn(a, isHeard: false))
    }

    @Test("tries a device that was not received after a pause, and the next one a minute later")
    func unheard() {
        var queue = ConnectQueue()
        for address in [a, b] { queue.add(address, isHeard: false, at: start) }
        #expect(queue.deadline == start + .seconds(15))
        #expect(queue.next(at: start + .seconds(14)) { _ in true } == nil)
        #expect(queue.next(at: start + .seconds(15)) { _ in true } == turn(a, isHeard: false))
        // It failed, and is asked for again: the other one comes first all the same.
        queue.add(a, isHeard: false, at: start + .seconds(23))
        #expect(queue.deadline == start + .seconds(75))
        #expect(queue.next(at: start + .seconds(74)) { _ in true } == nil)
        #expect(queue.next(at: start + .seconds(75)) { _ in true } == turn(b, isHeard: false))
        #expect(queue.next(at: start + .seconds(135)) { _ in true } == turn(a, isHeard: false))
        #expect(queue.isEmpty)
        #expect(queue.deadline == nil)
    }

    @Test("does not look up unknown devices at each turn")
    func deadline() {
        var queue = ConnectQueue()
        queue.add(a, isHeard: false, at: start)
        #expect(queue.next(at: start + .seconds(15)) { _ in false } == nil)
        #expect(queue.deadline == start + .seconds(75))
    }

    @Test("contains each device once, and removes it on request")
    func once() {
        var queue = ConnectQueue()
        queue.add(a, isHeard: true, at: start)
        queue.add(a, isHeard: false, at: start)
        #expect(queue.next(at: start) { _ in true } == nil)
        queue.remove(a)
        queue.heard(a, at: start)
        #expect(queue.isEmpty)
    }

    @Test("treats a device as received for 30 s, as long as BlueZ keeps it")
    func memoryLimit() {
        for (seconds, isHeard) in [(29, true), (30, false)] {
            var queue = ConnectQueue()
            queue.add(a, isHeard: true, at: start)
            #expect(queue.next(at: start + .seconds(seconds)) { _ in true } == turn(a, isHeard: isHeard))
        }
    }
}
