import EventLoop
import Foundation
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

    @Test("resumes on the loop after an await")
    func staysOnLoop() async throws {
        try await onLoop {
            let answer = await HelperThread.shared.run { EventLoop.shared.isCurrent }
            #expect(answer == false)
            #expect(EventLoop.shared.isCurrent)
        }
    }

    @Test("defers work to the end of the turn, once")
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

    @Test("runs work that is deferred at the end of a turn in the next turn")
    func endOfTurnAgain() async throws {
        try await onLoop {
            var log: [String] = []
            EventLoop.shared.atEndOfTurn {
                EventLoop.shared.atEndOfTurn { log.append("next") }
                log.append("end")
            }
            try await until("the end of the next turn") { log.count > 1 }
            #expect(log == ["end", "next"])
        }
    }

    @Test("runs everything that other threads queued before it woke up")
    func inbox() async throws {
        try await onLoop {
            let counter = Counter()
            // The loop stands still meanwhile: one wake-up finds all of them.
            let threads = (0..<4).map { _ in
                Thread { for _ in 0..<50 { Task { await counter.add() } } }
            }
            for thread in threads { thread.start() }
            while !threads.allSatisfy(\.isFinished) { sched_yield() }
            try await until("all of them") { counter.count == 200 }
        }
    }

    @LoopActor
    private final class Counter {
        private(set) var count = 0

        func add() { count += 1 }
    }
}

@Suite("End-of-turn source")
struct EndOfTurnSourceTests {
    @Test("calls once per turn, however often it was requested, and again on a new request")
    func once() async throws {
        try await onLoop {
            var calls = 0
            let source = EndOfTurnSource { calls += 1 }
            for _ in 0..<3 { source.request() }
            #expect(calls == 0)
            try await until("the end of the turn") { calls > 0 }
            await HelperThread.shared.run {}
            #expect(calls == 1)
            source.request()
            try await until("the end of a later turn") { calls == 2 }
            withExtendedLifetime(source) {}
        }
    }

    @Test("can be requested for the next turn during its own call")
    func again() async throws {
        try await onLoop {
            var calls = 0
            var source: EndOfTurnSource?
            source = EndOfTurnSource {
                calls += 1
                if calls < 3 { source?.request() }
            }
            source?.request()
            try await until("three turns") { calls == 3 }
        }
    }

    @Test("is not called after it was released, wherever it stands among the requested ones", arguments: 0..<4)
    func released(position: Int) async throws {
        try await onLoop {
            var log: [Int] = []
            var sources: [EndOfTurnSource?] = (0..<4).map { number in EndOfTurnSource { log.append(number) } }
            for source in sources { source?.request() }
            sources[position] = nil
            // Behind the last one, which may have been released.
            EventLoop.shared.atEndOfTurn { log.append(4) }
            try await until("the end of the turn") { log.last == 4 }
            #expect(log == (0...4).filter { $0 != position })
        }
    }

    @Test("may be released by another one's call in the same turn", arguments: 1..<4)
    func releasedByOther(position: Int) async throws {
        try await onLoop {
            var log: [Int] = []
            var sources: [EndOfTurnSource?] = []
            sources = (0..<4).map { number in
                EndOfTurnSource {
                    log.append(number)
                    if number == 0 { sources[position] = nil }
                }
            }
            for source in sources { source?.request() }
            EventLoop.shared.atEndOfTurn { log.append(4) }
            try await until("the end of the turn") { log.last == 4 }
            #expect(log == (0...4).filter { $0 != position })
            sources = []
        }
    }
}

@Suite("Loop timer")
struct LoopTimerTests {
    @Test("fires once each time it is armed, not before its time")
    func firesOnce() async throws {
        try await onLoop {
            var fired: [Instant] = []
            let timer = LoopTimer { fired.append(.now) }
            var turns = 0
            let turn = LoopTimer { turns += 1 }
            for round in 1...2 {
                let due = Instant.now + .milliseconds(20)
                timer.arm(at: due)
                #expect(timer.isArmed)
                try await until("the timer") { fired.count >= round }
                #expect(!timer.isArmed)
                // A source that stayed enabled would be dispatched again in these turns.
                for count in 1...5 {
                    turn.arm(after: .milliseconds(1))
                    try await until("a later turn") { turns == 5 * (round - 1) + count }
                }
                #expect(fired.count == round)
                #expect(fired.last.map { $0 >= due } == true)
            }
        }
    }

    @Test("fires immediately for a time in the past")
    func pastIsNow() async throws {
        try await onLoop {
            var fired = false
            let timer = LoopTimer { fired = true }
            timer.arm(at: .now - .seconds(5))
            try await until("the timer") { fired }
        }
    }

    @Test("does not fire after it was disarmed, and can be armed again")
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

    @Test("does not fire early after a long turn")
    func longTurn() async throws {
        try await onLoop {
            let begin = Instant.now
            while Instant.now - begin < .milliseconds(5) {}
            var fired: Instant?
            let timer = LoopTimer { fired = .now }
            let due = Instant.now + .milliseconds(2)
            timer.arm(at: due, accuracy: .microseconds(1))
            try await until("the timer") { fired != nil }
            #expect(try #require(fired) >= due)
        }
    }

    @Test("fires once at the time that it was moved to, earlier or later")
    func moved() async throws {
        try await onLoop {
            var fired: [Instant] = []
            let timer = LoopTimer { fired.append(.now) }
            let begin = Instant.now
            for milliseconds in [60_000, 2, 5, 4, 20] { timer.arm(at: begin + .milliseconds(milliseconds)) }
            try await until("the timer") { !fired.isEmpty }
            #expect(try #require(fired.first) >= begin + .milliseconds(20))
            #expect(!timer.isArmed)
            timer.arm(after: .milliseconds(1))
            try await until("the next call") { fired.count == 2 }
        }
    }

    @Test("stays disarmed after it was moved to a later time")
    func movedAndDisarmed() async throws {
        try await onLoop {
            var fired: [String] = []
            let disarmed = LoopTimer { fired.append("disarmed") }
            let other = LoopTimer { fired.append("other") }
            let begin = Instant.now
            disarmed.arm(at: begin + .milliseconds(1))
            disarmed.arm(at: begin + .milliseconds(2))
            disarmed.disarm()
            other.arm(at: begin + .milliseconds(10))
            try await until("the other timer") { !fired.isEmpty }
            #expect(fired == ["other"])
        }
    }

    @Test("may be released after it was moved to a later time")
    func movedAndReleased() async throws {
        try await onLoop {
            var hasFired = false
            var released: LoopTimer? = LoopTimer { Issue.record("a released timer has fired") }
            let other = LoopTimer { hasFired = true }
            let begin = Instant.now
            for milliseconds in [60_000, 5, 20] { released?.arm(at: begin + .milliseconds(milliseconds)) }
            released = nil
            other.arm(at: begin + .milliseconds(30))
            try await until("the other timer") { hasFired }
        }
    }

    @Test("can be disarmed, armed and released in its own call")
    func ownCall() async throws {
        try await onLoop {
            var calls = 0
            var timer: LoopTimer?
            timer = LoopTimer {
                calls += 1
                timer?.disarm()
                #expect(timer?.isArmed == false)
                timer?.arm(after: .seconds(60))
                timer?.disarm()
                if calls < 3 { timer?.arm(after: .zero) } else { timer = nil }
            }
            timer?.arm(after: .zero)
            try await until("three calls") { calls == 3 }
            #expect(timer == nil)
        }
    }

    @Test("accepts a deadline, none, and the same one again")
    func deadline() async throws {
        try await onLoop {
            var calls = 0
            let timer = LoopTimer { calls += 1 }
            let due: Instant? = .now + .milliseconds(5)
            timer.arm(at: due)
            timer.arm(at: nil)
            #expect(!timer.isArmed)
            timer.arm(at: due)
            timer.arm(at: due)
            try await until("the timer") { calls > 0 }
            #expect(!timer.isArmed)
            timer.arm(at: due)
            try await until("the time that has passed") { calls == 2 }
        }
    }
}

@Suite("Descriptor source")
struct DescriptorSourceTests {
    @Test("reports input, and nothing after it was cancelled")
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

    @Test("reports the error for a descriptor that epoll does not accept")
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
    @Test("reports a signal on the loop")
    func takes() async throws {
        try await onLoop {
            var count = 0
            let source = try SignalSource(SIGWINCH) { count += 1 }
            pthread_kill(pthread_self(), SIGWINCH)
            try await until("the signal") { count == 1 }
            withExtendedLifetime(source) {}
        }
    }

    @Test("ends a wait for the end of a service, before and after it has begun", arguments: [SIGTERM, SIGINT])
    func termination(signal: CInt) async throws {
        // Other tests run commands that take the same signals.
        try await onLoop(alone: true) {
            let signals = TerminationSignals()
            try signals.listen()
            var hasEnded = false
            EventLoop.shared.begin {
                await signals.wait()
                hasEnded = true
            }
            pthread_kill(pthread_self(), signal)
            try await until("the end") { hasEnded }
            await signals.wait()
        }
    }
}
