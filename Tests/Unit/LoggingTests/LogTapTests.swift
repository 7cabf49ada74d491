import Synchronization
import Testing
import Text
import Time

@testable import Logging

@Suite("Log tap")
struct LogTapTests {
    private let kept = MemorySink(level: .notice)
    private static let now = LogTime(Instant(sinceBoot: .seconds(7)), unixMilliseconds: 1_795_515_302_114)

    @Test("passes records on unchanged, with the threshold of the sink behind it")
    func passing() {
        let tap = LogTap(kept) { Self.now }
        let log = Logger("part", to: tap)
        #expect(tap.level == .notice)
        log.info("quiet")
        log.warning("loud")
        #expect(kept.records.map(\.line) == ["part: loud"])
        tap.level = .debug
        #expect(kept.level == .debug)
        log.debug("more")
        #expect(kept.records.count == 2)
        #expect(tap.takeRecords().records.isEmpty)
    }

    @Test("a listener gets records below the threshold of the sink, and the sink does not")
    func listening() {
        let tap = LogTap(kept) { Self.now }
        let log = Logger("part", to: tap)
        let woken = Mutex(0)
        tap.listen(at: .debug) { woken.withLock { $0 += 1 } }
        #expect(tap.level == .debug)
        log.trace("never")
        log.debug("one", [(.tag, "003R")])
        log.warning("two")
        #expect(woken.withLock { $0 } == 1)
        let (records, omitted) = tap.takeRecords()
        #expect(records.map(\.line) == ["part: one tag=003R", "part: two"] && omitted == 0)
        #expect((records + kept.records).allSatisfy { $0.time == Self.now })
        #expect(kept.records.map(\.line) == ["part: two"])
        log.debug("three")
        #expect(woken.withLock { $0 } == 2)
        tap.listen(at: nil)
        #expect(tap.level == .notice && tap.takeRecords().records.isEmpty)
        log.debug("four")
        #expect(woken.withLock { $0 } == 2)
    }

    @Test("a listener above the threshold of the sink changes nothing for the sink")
    func higher() {
        let tap = LogTap(kept) { Self.now }
        let log = Logger("part", to: tap)
        tap.listen(at: .error)
        log.notice("kept")
        log.error("both")
        #expect(tap.level == .notice)
        #expect(kept.records.count == 2)
        #expect(tap.takeRecords().records.map(\.line) == ["part: both"])
        tap.level = .warning
        #expect(tap.level == .warning)
    }

    @Test("at most 64 records wait, and the others are counted")
    func bounded() {
        let tap = LogTap(kept) { Self.now }
        let log = Logger("part", to: tap)
        tap.listen(at: .info)
        for _ in 0..<100 { log.info("flood") }
        var (records, omitted) = tap.takeRecords()
        #expect(records.count == 64 && omitted == 36)
        log.info("again")
        (records, omitted) = tap.takeRecords()
        #expect(records.count == 1 && omitted == 0)
    }
}
