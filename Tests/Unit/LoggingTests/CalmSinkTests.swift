import Synchronization
import Testing
import Text
import Time

@testable import Logging

@Suite("Calm sink")
struct CalmSinkTests {
    private final class Clock: Sendable {
        private let time = Mutex(Instant(sinceBoot: .seconds(3_600)))

        var now: Instant { time.withLock { $0 } }

        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private let clock = Clock()
    private let kept = MemorySink()

    private var logger: Logger {
        Logger("part", to: CalmSink(kept, answering: ["answer"], now: { [clock] in clock.now }))
    }

    @Test("passes on a condition once a minute, with the number of omitted ones")
    func once() {
        let logger = logger
        for second in 0..<120 {
            logger.warning("lost", [(.tag, "003R"), (.attempt, "\(second)"), (.retryIn, "\(second)")])
            clock.advance(.seconds(1))
        }
        #expect(
            kept.records.map(\.line) == [
                "part: lost tag=003R attempt=0 retry_in_ms=0",
                "part: lost tag=003R attempt=60 retry_in_ms=60 repeated=59",
            ])
    }

    @Test("logs each change of state, so that the last line is true")
    func changes() {
        let logger = logger
        for _ in 0..<2 {
            logger.change(.warning, "lost")
            logger.change(.info, "found")
        }
        #expect(kept.records.map(\.message) == ["lost", "found", "lost", "found"])
    }

    @Test("treats another tag, part, level or error as another condition")
    func others() {
        let logger = logger
        logger.warning("lost", [(.tag, "003R")])
        logger.warning("lost", [(.tag, "0002")])
        logger.warning("lost", [(.tag, "003R"), (.error, "no route")])
        logger.error("lost", [(.tag, "003R")])
        logger.labelled("other").warning("lost", [(.tag, "003R")])
        #expect(kept.records.count == 5)
    }

    @Test("passes on all debug lines, and answers to requests")
    func exceptions() {
        let logger = logger
        for _ in 0..<3 {
            logger.debug("seen")
            logger.labelled("answer").notice("read")
        }
        #expect(kept.records.count == 6)
    }

    @Test("has the threshold of its sink")
    func level() {
        let calm = CalmSink(kept, now: { [clock] in clock.now })
        calm.level = .error
        #expect(kept.level == .error && calm.level == .error)
    }

    @Test("stores a limited number of conditions")
    func bounded() {
        var limiter = RepeatLimiter()
        let start = clock.now
        func condition(_ number: Int) -> RepeatLimiter.Condition {
            RepeatLimiter.Condition(LogRecord(level: .info, label: "a", message: "\(number)", metadata: []))
        }
        for number in 0...RepeatLimiter.most {
            #expect(limiter.admit(condition(number), at: start + .milliseconds(number)) == 0)
        }
        #expect(limiter.admit(condition(RepeatLimiter.most), at: start + .seconds(1)) == nil)
        #expect(limiter.admit(condition(0), at: start + .seconds(1)) == 0, "the oldest was forgotten")
    }
}
