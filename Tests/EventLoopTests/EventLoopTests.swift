import EventLoop
import Glibc
import TestSupport
import Testing
import Time

@Suite("Event loop")
struct EventLoopTests {
    @Test("runs the actor's code on its own thread")
    func actorRunsOnLoop() async throws {
        let isCurrent = try await onLoop { EventLoop.shared.isCurrent }
        #expect(isCurrent)
        #expect(!EventLoop.shared.isCurrent)
    }

    @Test("comes back to the loop after an await")
    func staysOnLoop() async throws {
        try await onLoop {
            let answer = await HelperThread.shared.run { EventLoop.shared.isCurrent }
            #expect(answer == false)
            #expect(EventLoop.shared.isCurrent)
        }
    }

    @Test("does the helper's work in the order in which it came")
    func helperKeepsOrder() async throws {
        try await onLoop {
            var order: [Int] = []
            for number in 0..<100 { order.append(await HelperThread.shared.run { number }) }
            #expect(order == Array(0..<100))
        }
    }

    @Test("puts work off to the end of the turn, once")
    func endOfTurn() async throws {
        try await onLoop {
            var log: [String] = []
            EventLoop.shared.atEndOfTurn { log.append("end") }
            log.append("body")
            try await until("the end of the turn") { log.count > 1 }
            await HelperThread.shared.run {}
            #expect(log == ["body", "end"])
        }
    }
}

@Suite("Loop timer")
struct LoopTimerTests {
    @Test("fires once, not before its time")
    func firesOnce() async throws {
        try await onLoop {
            var fired: [Instant] = []
            let timer = LoopTimer { fired.append(.now) }
            let due = Instant.now + .milliseconds(20)
            timer.arm(at: due)
            #expect(timer.isArmed)
            try await until("the timer") { !fired.isEmpty }
            #expect(fired.count == 1)
            #expect(fired.allSatisfy { $0 >= due })
            #expect(!timer.isArmed)
        }
    }

    @Test("fires at once for a time that has passed")
    func pastIsNow() async throws {
        try await onLoop {
            var fired = false
            let timer = LoopTimer { fired = true }
            timer.arm(at: .now - .seconds(5))
            try await until("the timer") { fired }
        }
    }

    @Test("keeps quiet once disarmed, and can be armed again")
    func disarm() async throws {
        try await onLoop {
            var fired: [String] = []
            let disarmed = LoopTimer { fired.append("disarmed") }
            let other = LoopTimer { fired.append("other") }
            disarmed.arm(after: .milliseconds(1))
            disarmed.disarm()
            other.arm(after: .milliseconds(10))
            try await until("the other timer") { !fired.isEmpty }
            #expect(fired == ["other"])
            disarmed.arm(after: .zero)
            try await until("the first timer") { fired.count == 2 }
        }
    }
}

@Suite("Descriptor source")
struct DescriptorSourceTests {
    @Test("reports what has come, and nothing after it was cancelled")
    func reads() async throws {
        try await onLoop {
            var ends: [CInt] = [0, 0]
            #expect(pipe(&ends) == 0)
            var seen: [DescriptorSource.Events] = []
            let source = try DescriptorSource(ends[0], for: .readable) { events in
                seen.append(events)
                var byte: UInt8 = 0
                _ = read(ends[0], &byte, 1)
            }
            _ = write(ends[1], "x", 1)
            try await until("the byte") { !seen.isEmpty }
            #expect(seen == [.readable])
            source.cancel()
            close(ends[1])
            await HelperThread.shared.run {}
            #expect(seen.count == 1)
            close(ends[0])
        }
    }

    @Test("names the failure for a descriptor that epoll does not take")
    func refusesFiles() async throws {
        try await onLoop {
            let file = open("/etc/passwd", O_RDONLY)
            defer { close(file) }
            let error = #expect(throws: SystemError.self) { try DescriptorSource(file, for: .readable) { _ in } }
            #expect(error?.number == EPERM)
        }
    }
}

@Suite("Signal source")
struct SignalSourceTests {
    @Test("takes a signal on the loop")
    func takes() async throws {
        try await onLoop {
            var count = 0
            let source = try SignalSource(SIGWINCH) { count += 1 }
            pthread_kill(pthread_self(), SIGWINCH)
            try await until("the signal") { count == 1 }
            withExtendedLifetime(source) {}
        }
    }
}
