import Bluetooth
import EventLoop
import JacquardProtocol
import TagStage
import Tags
import TestSupport
import Testing

@testable import Jacquard

@Suite("A broadcast")
struct BroadcastTests {
    @Test("gives each reader the latest value and then every change")
    func replay() async throws {
        try await onLoop {
            let broadcast = Broadcast<Int>(keeping: 8, first: 0)
            let early = Reader(broadcast.stream())
            broadcast.send(1)
            let late = Reader(broadcast.stream())
            broadcast.send(2)
            broadcast.finish()
            #expect(await early.rest() == [0, 1, 2])
            #expect(await late.rest() == [1, 2])
            #expect(await Reader(broadcast.stream()).rest() == [2])
        }
    }

    @Test("replays nothing before the first value, and nothing at all if replay is off")
    func nothing() async throws {
        try await onLoop {
            let replaying = Broadcast<Int>(keeping: 8, isReplaying: true)
            let plain = Broadcast<Int>(keeping: 8)
            let first = Reader(replaying.stream())
            plain.send(1)
            let second = Reader(plain.stream())
            for broadcast in [replaying, plain] {
                broadcast.send(2)
                broadcast.finish()
            }
            #expect(await first.rest() == [2])
            #expect(await second.rest() == [2])
        }
    }

    @Test("keeps the newest values for a slow reader")
    func slowReader() async throws {
        try await onLoop {
            let broadcast = Broadcast<Int>(keeping: 3)
            let reader = Reader(broadcast.stream())
            for number in 1...10 { broadcast.send(number) }
            broadcast.finish()
            #expect(await reader.rest() == [8, 9, 10])
        }
    }

    @Test("of the manager and of a connection keeps as many values for a slow reader as its documentation says")
    func capacities() async throws {
        try await onLoop {
            let stage = Stage()
            let manager = stage.jacquard
            stage.hear(1)
            let follower = ConnectionFollower(TagFacts()) { _ in nil }
            let journal = TagJournal(TagFacts())
            let tag = try #require(stage.manager.advertisement(at: .number(1)))
            #expect(await Self.kept(manager.centralStates, .poweredOff) == 16)
            #expect(await Self.kept(manager.scanStates, true) == 16)
            #expect(await Self.kept(manager.advertisements, tag) == 1_024)
            #expect(await Self.kept(follower.states, .preparingToConnect) == 64)
            #expect(await Self.kept(journal.gears, nil) == 16)
            #expect(await Self.kept(journal.names, "Desk") == 16)
        }
    }

    /// The number of values that a reader gets which reads after 2,000 were sent.
    @LoopActor
    private static func kept<Value: Sendable>(_ broadcast: Broadcast<Value>, _ value: Value) async -> Int {
        let reader = Reader(broadcast.stream())
        for _ in 0..<2_000 { broadcast.send(value) }
        broadcast.finish()
        return await reader.rest().count
    }

    @Test("drops a reader that has ended")
    func goneReader() async throws {
        try await onLoop {
            let broadcast = Broadcast<Int>(keeping: 3)
            for _ in 1...10 { _ = broadcast.stream() }
            try await until("no reader is left") { broadcast.readerCount == 0 }
        }
    }
}

@Suite("Stored notifications")
struct NotificationStoreTests {
    private static func gesture(_ number: UInt32) -> TagNotification { .gesture(Gesture(rawValue: number)) }

    @Test("are delivered to all readers that subscribe at the same time, and to no later one")
    func keeps() async throws {
        try await onLoop {
            let store = NotificationStore()
            store.receive(Self.gesture(1))
            let first = Reader(store.subscribe())
            let second = Reader(store.subscribe())
            store.receive(Self.gesture(2))
            let third = Reader(store.subscribe())
            store.receive(Self.gesture(3))
            store.finish()
            #expect(await first.rest() == [1, 2, 3].map(Self.gesture))
            #expect(await second.rest() == [1, 2, 3].map(Self.gesture))
            #expect(await third.rest() == [Self.gesture(3)])
        }
    }

    @Test("are bounded: the oldest are dropped")
    func bounded() async throws {
        try await onLoop {
            let store = NotificationStore()
            for number in 1...300 as ClosedRange<UInt32> { store.receive(Self.gesture(number)) }
            store.finish()
            let kept = await Reader(store.subscribe()).rest()
            #expect(kept == (45...300).map(Self.gesture))
        }
    }

    @Test("are followed by the newest 1,024 notifications for a slow reader")
    func slowReader() async throws {
        try await onLoop {
            let store = NotificationStore()
            let reader = Reader(store.subscribe())
            for number in 1...1_100 as ClosedRange<UInt32> { store.receive(Self.gesture(number)) }
            store.finish()
            #expect(await reader.rest() == (77...1_100).map(Self.gesture))
        }
    }
}
