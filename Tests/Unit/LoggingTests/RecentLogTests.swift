import Synchronization
import Testing
import Text
import Time

@testable import Logging

@Suite("Recent log")
struct RecentLogTests {
    private let written = MemorySink(level: .info)
    private let recent: RecentLog
    private let clock = Seconds()
    private let tap: LogTap
    private let log: Logger

    /// A clock that the test moves.
    private final class Seconds: Sendable {
        let value = Mutex<Int64>(0)

        var now: LogTime {
            let seconds = value.withLock { $0 }
            return LogTime(Instant(sinceBoot: .seconds(seconds)), unixMilliseconds: seconds * 1_000)
        }

        func advance(by seconds: Int64 = 1) {
            value.withLock { $0 += seconds }
        }
    }

    init() {
        recent = RecentLog(written, since: Instant(sinceBoot: .zero))
        tap = LogTap(CalmSink(recent, now: { [clock] in clock.now.instant }), now: { [clock] in clock.now })
        log = Logger("part", to: tap)
    }

    private func records(at level: LogLevel = .trace, since seconds: Int64 = 0) -> ([String], since: Int64) {
        let (records, since) = recent.records(at: level, since: Instant(sinceBoot: .seconds(seconds)))
        return (records.map(\.line), since.sinceBoot.components.seconds)
    }

    @Test("has the records that the sink behind it has, from a time on and from a level on")
    func selects() {
        for (index, level) in [LogLevel.debug, .info, .warning, .error].enumerated() {
            clock.advance()
            log.log(level, "record", [(.count, "\(index)")])
        }
        #expect(written.records.count == 3)
        #expect(records() == (["part: record count=1", "part: record count=2", "part: record count=3"], since: 0))
        #expect(records(at: .warning, since: 2) == (["part: record count=2", "part: record count=3"], since: 2))
        #expect(records(since: 4) == (["part: record count=3"], since: 4))
        #expect(records(since: 5) == ([], since: 5))
        #expect(records(since: -600) == (records().0, since: 0))
        #expect(recent.records(at: .error, since: Instant(sinceBoot: .zero)).records.first?.time == clock.now)
    }

    @Test("has a repeated record once, and the number of those that were suppressed")
    func repeated() {
        for _ in 0..<61 {
            log.warning("again")
            clock.advance()
        }
        #expect(records().0 == ["part: again", "part: again repeated=59"])
        #expect(recent.records(at: .trace, since: Instant(sinceBoot: .seconds(60))).records.first?.time != nil)
    }

    @Test("keeps at most 256 records, and says since when they are complete")
    func boundedNumber() {
        for index in 0..<1_000 {
            clock.advance()
            log.change(.info, "record", [(.count, "\(index)")])
        }
        let (lines, since) = records()
        #expect(lines == (744..<1_000).map { "part: record count=\($0)" })
        // The last removed record is that of second 744.
        #expect(since == 744)
        #expect(records(since: 900).since == 900)
    }

    @Test("keeps at most 64 KiB")
    func boundedBytes() {
        let long = String(repeating: "x", count: 1_000)
        for index in 0..<200 {
            clock.advance()
            log.change(.info, "record", [(.count, "\(index)"), (.error, long)])
        }
        let (lines, since) = records()
        #expect(lines.count == 57 && lines.last?.hasPrefix("part: record count=199 ") == true)
        #expect(since == 200 - 57)
        for _ in 0..<300 { log.change(.info, "short") }
        #expect(records().0 == Array(repeating: "part: short", count: 256))
    }

    @Test("a changed level applies to the sink behind it")
    func level() {
        tap.level = .debug
        #expect(written.level == .debug && recent.level == .debug)
        log.debug("detail")
        #expect(records().0 == ["part: detail"])
    }
}
