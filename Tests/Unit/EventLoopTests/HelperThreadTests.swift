import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EventLoop

@Suite("Helper thread")
struct HelperThreadTests {
    private static let disk = HelperThread.Concern("disk")
    private static let names = HelperThread.Concern("names")

    /// Holds up the thread that waits for it, until it is opened.
    private final class Barrier: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let count = Mutex(0)

        /// How many pieces of work have reached it.
        var reached: Int { count.withLock { $0 } }

        func wait() {
            count.withLock { $0 += 1 }
            semaphore.wait()
            semaphore.signal()
        }

        func open() { semaphore.signal() }
    }

    @Test("runs the pieces of one concern in the order in which they were submitted")
    func order() async throws {
        try await onLoop {
            let helper = HelperThread()
            let barrier = Barrier()
            let order = Mutex<[Int]>([])
            EventLoop.shared.begin { await helper.run(Self.disk) { barrier.wait() } }
            try await until("the thread is busy") { barrier.reached == 1 }
            for number in 0..<20 {
                EventLoop.shared.begin { await helper.run(Self.disk) { order.withLock { $0.append(number) } } }
            }
            // One more than the pieces above is waiting when this line is reached, in this order.
            EventLoop.shared.begin { barrier.open() }
            await helper.run(Self.disk) {}
            #expect(order.withLock { $0 } == Array(0..<20))
        }
    }

    @Test("runs the work of other concerns while one hangs, and returns to one thread afterwards")
    func hangingPiece() async throws {
        try await onLoop {
            let helper = HelperThread()
            let barrier = Barrier()
            var isBack = false
            EventLoop.shared.begin {
                await helper.run(Self.disk) { barrier.wait() }
                isBack = true
            }
            try await until("the thread is busy") { barrier.reached == 1 }
            #expect(helper.threads == 1)
            for number in 0..<50 {
                #expect(await helper.run(Self.names) { number } == number)
            }
            #expect(helper.threads == 2)
            barrier.open()
            try await until("the end of the piece that hung") { isBack }
            try await until("one thread") { helper.threads == 1 }
            #expect(await helper.run(Self.disk) { 1 } == 1)
        }
    }

    @Test("starts at most one thread for each concern, however many pieces of work hang")
    func atMostOneEach() async throws {
        try await onLoop {
            let helper = HelperThread()
            let barrier = Barrier()
            let concerns = (0..<4).map { HelperThread.Concern("\($0)") }
            for _ in 0..<5 {
                for concern in concerns {
                    EventLoop.shared.begin { await helper.run(concern) { barrier.wait() } }
                }
            }
            try await until("a piece of each hangs") { barrier.reached == 4 }
            #expect(helper.threads == 4)
            #expect(await helper.run(Self.names) { 7 } == 7)
            barrier.open()
            try await until("all are done") { barrier.reached == 20 }
            try await until("one thread") { helper.threads == 1 }
        }
    }

    @Test("refuses more work of a concern that hangs, with the caller's result")
    func full() async throws {
        try await onLoop {
            let helper = HelperThread()
            let barrier = Barrier()
            EventLoop.shared.begin { await helper.run(Self.names) { barrier.wait() } }
            try await until("the thread is busy") { barrier.reached == 1 }
            var results: [Int] = []
            for _ in 0..<HelperQueue.mostWaiting {
                EventLoop.shared.begin { results.append(await helper.run(Self.names, orIfFull: 0) { 1 }) }
            }
            EventLoop.shared.begin { results.append(await helper.run(Self.names, orIfFull: 0) { 1 }) }
            try await until("the refusal") { !results.isEmpty }
            #expect(results == [0])
            barrier.open()
            try await until("the others") { results.count == HelperQueue.mostWaiting + 1 }
            #expect(results.dropFirst().allSatisfy { $0 == 1 })
        }
    }
}

@Suite("Queue of the helper")
struct HelperQueueTests {
    private static let disk = HelperThread.Concern("disk")
    private static let names = HelperThread.Concern("names")

    @Test("uses a first thread, then a free one, then waits")
    func steps() {
        var queue = HelperQueue()
        let steps = [queue.add(Self.disk) {}, queue.add(Self.disk) {}]
        #expect(steps == [.startThread, .wakeThread])
        // The second piece of the disk waits for the first; no thread would help it.
        let taken = [queue.next()?.concern, queue.next()?.concern]
        #expect(taken == [Self.disk, nil])
        #expect(!queue.lacksThread)
        let step = queue.add(Self.names) {}
        #expect(step == .waitForThread)
        let added = [queue.addThread(), queue.addThread()]
        #expect(added == [true, false], "one thread is enough for one concern")
        let other = queue.next()?.concern
        #expect(other == Self.names)
    }

    @Test("ends a thread when two are idle, and never the last one")
    func threads() {
        var queue = HelperQueue()
        _ = queue.add(Self.disk) {}
        _ = queue.next()
        _ = queue.add(Self.names) {}
        _ = queue.addThread()
        _ = queue.next()
        queue.ended(Self.names)
        let whileBusy = queue.idle()
        #expect(whileBusy == .wait, "the other one is busy")
        queue.ended(Self.disk)
        let steps = [queue.idle(), queue.idle()]
        #expect(steps == [.end, .wait])
        #expect(queue.threads == 1)
    }

    @Test("does not end a thread that found no work if a concern has become free since")
    func freeConcern() {
        var queue = HelperQueue()
        _ = queue.add(Self.disk) {}
        _ = queue.next()
        _ = queue.add(Self.disk) {}
        let found = queue.next()?.concern
        #expect(found == nil, "the concern is busy")
        queue.ended(Self.disk)
        let step = queue.idle()
        #expect(step == .work)
    }
}
