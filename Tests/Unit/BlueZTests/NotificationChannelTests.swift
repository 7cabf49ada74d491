import EventLoop
import Glibc
import TestSupport
import Testing

@testable import BlueZ

@Suite("Notification channel")
struct NotificationChannelTests {
    /// A channel and bluetoothd's end of its socket.
    @LoopActor
    final class Bench {
        let sender: CInt
        let receiver: CInt
        private(set) var values: [[UInt8]] = []
        private(set) var ends = 0
        var onValue: (() -> Void)?
        var channel: NotificationChannel?

        init() throws {
            var ends: [CInt] = [0, 0]
            let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            #expect(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            (sender, receiver) = (ends[0], ends[1])
            channel = try NotificationChannel(owning: ends[1]) { [unowned self] in
                values.append($0)
                onValue?()
            } onEnd: { [unowned self] in
                self.ends += 1
            }
        }

        func send(_ value: [UInt8]) {
            _ = Glibc.send(sender, value, value.count, CInt(MSG_NOSIGNAL))
        }
    }

    @Test("delivers each packet unchanged and in order")
    func packets() async throws {
        try await onLoop {
            let bench = try Bench()
            let sent: [[UInt8]] = (1...100).map { [UInt8](repeating: UInt8($0), count: $0 * 5) }
            for value in sent { bench.send(value) }
            try await until("all values") { bench.values.count == 100 }
            #expect(bench.values == sent)
            close(bench.sender)
        }
    }

    @Test("reads at most 64 packets per turn of the loop")
    func fairness() async throws {
        try await onLoop {
            let bench = try Bench()
            var counts: [Int] = []
            let turn = EndOfTurnSource { [unowned bench] in counts.append(bench.values.count) }
            bench.onValue = { turn.request() }
            for value in 1...150 as ClosedRange<UInt8> { bench.send([value]) }
            try await until("all values") { bench.values.count == 150 }
            try await until("the last turn") { counts.last == 150 }
            #expect(counts == [64, 128, 150])
            close(bench.sender)
        }
    }

    @Test("does not treat an empty value as the end")
    func empty() async throws {
        try await onLoop {
            let bench = try Bench()
            bench.send([])
            bench.send([7])
            try await until("the value behind") { bench.values == [[7]] }
            #expect(bench.ends == 0)
            close(bench.sender)
            try await until("the end") { bench.ends == 1 }
        }
    }

    @Test("delivers the values sent before the end")
    func end() async throws {
        try await onLoop {
            let bench = try Bench()
            bench.send([1])
            bench.send([2])
            close(bench.sender)
            try await until("the end") { bench.ends == 1 }
            #expect(bench.values == [[1], [2]])
        }
    }

    @Test("delivers the values behind an empty one that were sent before the end")
    func endPastEmpty() async throws {
        try await onLoop {
            let bench = try Bench()
            for value in [[1], [], [2], [], [], [3]] as [[UInt8]] { bench.send(value) }
            close(bench.sender)
            try await until("the end") { bench.ends == 1 }
            #expect(bench.values == [[1], [2], [3]])
        }
    }

    @Test("delivers the values sent before a reset by bluetoothd", arguments: [false, true])
    func reset(isDrained: Bool) async throws {
        try await onLoop {
            let bench = try Bench()
            bench.send([1])
            bench.send([2])
            // What bluetoothd has not read makes its close a reset, which is reported before the values.
            #expect(Glibc.send(bench.receiver, [9], 1, CInt(MSG_NOSIGNAL)) == 1)
            close(bench.sender)
            if isDrained { bench.channel?.drain() } else { try await until("the end") { bench.ends == 1 } }
            #expect(bench.values == [[1], [2]])
        }
    }

    @Test("ends when its descriptor cannot be read, also without a hang-up")
    func unreadable() async throws {
        try await onLoop {
            // A pipe is readable for epoll, but it is no socket.
            var pipe: [CInt] = [0, 0]
            #expect(Glibc.pipe(&pipe) == 0)
            var ends = 0
            let channel = try NotificationChannel(owning: pipe[0]) { _ in
            } onEnd: {
                ends += 1
            }
            #expect(write(pipe[1], [1], 1) == 1)
            try await until("the end") { ends == 1 }
            withExtendedLifetime(channel) {}
            close(pipe[1])
        }
    }

    @Test("are not acquired when the process could not store as many as it expects")
    func spareDescriptors() {
        #expect(SpareDescriptors.areAvailable(beside: 0))
        #expect(!SpareDescriptors.areAvailable(beside: Int(CInt.max)))
    }

    @Test("delivers buffered values immediately when it is drained")
    func drain() async throws {
        try await onLoop {
            let bench = try Bench()
            for value in 1...3 as ClosedRange<UInt8> { bench.send([value]) }
            bench.channel?.drain()
            #expect(bench.values == [[1], [2], [3]])
            bench.channel?.drain()
            bench.channel?.cancel()
            #expect(bench.values.count == 3 && bench.ends == 0)
            close(bench.sender)
        }
    }

    @Test("delivers values after an empty one when it is drained, and stops after the last")
    func drainPastEmpty() async throws {
        try await onLoop {
            let bench = try Bench()
            for value in [[1], [], [2]] as [[UInt8]] { bench.send(value) }
            close(bench.sender)
            bench.channel?.drain()
            #expect(bench.values == [[1], [2]])
        }
    }

    @Test("delivers nothing after the handler of a value has cancelled it, and closes its descriptor")
    func cancel() async throws {
        try await onLoop {
            let bench = try Bench()
            bench.onValue = { [unowned bench] in
                bench.channel?.cancel()
                bench.channel = nil
            }
            bench.send([1])
            bench.send([2])
            var status = 0
            try await until("the other end is closed") {
                status = Glibc.send(bench.sender, [3], 1, CInt(MSG_NOSIGNAL))
                return status < 0
            }
            #expect(bench.values == [[1]])
            #expect(bench.ends == 0)
            close(bench.sender)
        }
    }
}
