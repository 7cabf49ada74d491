import JSON
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("The trace of a gesture")
struct GestureTraceTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func at(_ milliseconds: Double) -> Instant { start + .seconds(milliseconds / 1_000) }

    private func gesture(_ sequence: UInt64 = 1) -> Publication {
        var publication = Publication(topic: "gesture", payload: [], kind: .event(lifetime: .seconds(5)))
        publication.gesture = GestureMark(tag: 1, name: 1, sequence: sequence)
        return publication
    }

    /// Submits a gesture that was received at a time, read 0.1 ms and decoded 0.2 ms later.
    private func submit(_ outbox: inout Outbox, _ sequence: UInt64 = 1, at time: Double) -> [Outbox.Delivery] {
        outbox.submit(
            gesture(sequence), at: at(time + 0.2),
            arrival: GestureArrival(received: at(time), read: at(time + 0.1)))
    }

    /// A traced gesture: its stage, its times in tenths of a millisecond, and the rest.
    private func line(_ outbox: Outbox) -> String {
        let now = Timestamp(instant: at(10_000), unixMilliseconds: 0)
        return outbox.gestures(TraceQuery(tag: nil, sequence: nil, count: 100)).map { trace in
            let document = JSONValue(
                parsing: JSONText.bytes(
                    of: GestureTraceDocument(
                        trace: trace, tag: "003R", names: ChordNames(), tracing: nil, clock: TraceClock(now), now: now))
            )
            func tenths(_ key: String) -> String? { (document?[key]?.integer).map { "\(($0 + 50) / 100)" } }
            let times = ["read_us", "reassembled_us", "queued_us", "written_us", "ended_us"].map { tenths($0) ?? "-" }
            let rest = [
                document?["reason"]?.word.map { "reason \($0)" }, document?["waited_for"]?.word,
                document?["repeated"]?.flag == true ? "again" : nil, tenths("released_us").map { "released \($0)" },
            ]
            return ([document?["stage"]?.word ?? ""] + times + rest.compactMap(\.self)).joined(separator: " ")
        }.joined(separator: ", ")
    }

    private func connected(window: Int = 100, hasReasons: Bool = true) -> Outbox {
        var outbox = Outbox(window: window)
        _ = outbox.connected(hasReasons: hasReasons, at: start)
        return outbox
    }

    @Test("takes 40 bytes, and 12 in the publication, which is not larger by them")
    func size() {
        #expect(MemoryLayout<GestureTrace>.stride == 40)
        #expect(MemoryLayout<GestureMark>.size == 12)
        #expect(MemoryLayout<Publication>.size == 80)
    }

    @Test("has the times of all stages, and the broker's reason")
    func stages() throws {
        var outbox = connected()
        let ticket = try #require(submit(&outbox, at: 1).first?.ticket)
        #expect(line(outbox) == "queued 1 2 2 - -")
        outbox.written(at: at(1.4))
        #expect(line(outbox) == "written 1 2 2 4 -")
        _ = outbox.acknowledged(ticket, reason: 0x10, at: at(2.5))
        #expect(line(outbox) == "acknowledged 1 2 2 4 15 reason 16")
    }

    @Test("evaluates the arrival for gestures only")
    func arrivals() {
        var outbox = connected()
        var reads = 0
        func arrival() -> GestureArrival {
            reads += 1
            return GestureArrival(received: start, read: start)
        }
        let result = Publication(topic: "result", payload: [], kind: .result(lifetime: .seconds(60)))
        #expect(outbox.submit(result, at: start, arrival: arrival()).count == 1)
        _ = outbox.submit(.fact("state", word: "online"), at: start, arrival: arrival())
        #expect(reads == 0)
        #expect(outbox.submit(gesture(), at: start, arrival: arrival()).count == 1)
        #expect(reads == 1)
    }

    @Test("has no reason with MQTT 3.1.1")
    func oldProtocol() throws {
        var outbox = connected(hasReasons: false)
        let ticket = try #require(submit(&outbox, at: 0).first?.ticket)
        _ = outbox.acknowledged(ticket, at: at(1))
        #expect(line(outbox) == "acknowledged 1 2 2 - 10")
    }

    @Test("ends with the refusal of the broker, or of the client")
    func refusal() throws {
        var outbox = connected()
        let first = try #require(submit(&outbox, 1, at: 0).first?.ticket)
        outbox.written(at: at(0.4))
        _ = outbox.refused(first, reason: 0x87, at: at(1))
        let second = try #require(submit(&outbox, 2, at: 2).first?.ticket)
        // Another message was written in the same turn.
        outbox.written(at: at(2.4))
        _ = outbox.refused(second, at: at(3))
        #expect(line(outbox) == "refused 1 2 2 4 10 reason 135, unsendable 1 2 2 - 10")
    }

    @Test("waits for a connection, and expires")
    func brokerStopped() {
        var outbox = Outbox()
        #expect(submit(&outbox, 1, at: 0).isEmpty)
        #expect(submit(&outbox, 2, at: 3_000).isEmpty)
        #expect(line(outbox) == "waiting 1 2 - - - broker, waiting 1 2 - - - broker")
        let deliveries = outbox.connected(at: at(6_000))
        outbox.written(at: at(6_000.2))
        _ = outbox.acknowledged(deliveries.first?.ticket ?? 0, at: at(6_001))
        #expect(
            line(outbox)
                == "expired 1 2 - - 60000 broker, acknowledged 1 2 30000 30002 30010 reason 0 broker")
    }

    @Test("waits for earlier acknowledgements while the window is full")
    func window() throws {
        var outbox = connected(window: 1)
        let first = try #require(submit(&outbox, 1, at: 0).first?.ticket)
        #expect(submit(&outbox, 2, at: 1).isEmpty)
        outbox.written(at: at(1.1))
        #expect(outbox.acknowledged(first, at: at(4)).count == 1)
        #expect(line(outbox) == "acknowledged 1 2 2 11 40 reason 0, queued 1 2 30 - - window")
    }

    @Test("expires while the window is full")
    func expiryInWindow() throws {
        var outbox = connected(window: 1)
        let first = try #require(submit(&outbox, 1, at: 0).first?.ticket)
        _ = submit(&outbox, 2, at: 1)
        outbox.written(at: at(1.1))
        #expect(outbox.acknowledged(first, at: at(7_000)).isEmpty)
        #expect(line(outbox) == "acknowledged 1 2 2 11 70000 reason 0, expired 1 2 - - 69990 window")
    }

    @Test("starts again when the connection is lost before the acknowledgement")
    func lostConnection() {
        var outbox = connected(window: 1)
        _ = submit(&outbox, 1, at: 0)
        _ = submit(&outbox, 2, at: 0)
        outbox.written(at: at(0.4))
        outbox.disconnected(at: at(1))
        #expect(line(outbox) == "waiting 1 2 - - - broker again, waiting 1 2 - - - broker")
        let deliveries = outbox.connected(at: at(2))
        outbox.written(at: at(2.2))
        #expect(line(outbox) == "written 1 2 20 22 - broker again, waiting 1 2 - - - broker")
        _ = outbox.acknowledged(deliveries[0].ticket ?? 0, at: at(3))
        #expect(line(outbox).hasPrefix("acknowledged 1 2 20 22 30 reason 0 broker again, queued"))
    }

    @Test("ends when the queue is full, and when the broker closes two connections with it in flight")
    func dropped() {
        var full = Outbox(maxEventBytes: 1)
        _ = submit(&full, 1, at: 0)
        _ = submit(&full, 2, at: 0)
        #expect(line(full) == "waiting 1 2 - - - broker, dropped 1 2 - - 2 broker")
        var closing = connected()
        _ = submit(&closing, at: 0)
        closing.disconnected(isClosedByBroker: true, at: at(1))
        _ = closing.connected(at: at(2))
        closing.disconnected(isClosedByBroker: true, at: at(3))
        #expect(line(closing) == "closing 1 2 20 - 30 broker again")
    }

    @Test("of a gesture that was held back for a chord begins when it was decoded, and has the time of its release")
    func chord() throws {
        var outbox = connected()
        var held = gesture()
        held.gesture.hold(from: at(0), to: at(801))
        let arrival = GestureArrival(received: at(800), read: at(800))
        let ticket = try #require(outbox.submit(held, at: at(801), arrival: arrival).first?.ticket)
        #expect(line(outbox) == "queued 0 0 8010 - - chord released 8010")
        #expect(outbox.gestures(TraceQuery(tag: nil, sequence: nil, count: 1)).first?.received == TraceTicks.at(start))
        outbox.written(at: at(801.2))
        _ = outbox.acknowledged(ticket, at: at(802))
        #expect(line(outbox) == "acknowledged 0 0 8010 8012 8020 reason 0 chord released 8010")
        // The metrics don't count the time of the chord.
        #expect(outbox.gestureDurations.sumMicroseconds < 1_100)
    }

    @Test("of a gesture that was held back and then waited for the broker has both times")
    func chordAndBroker() {
        var outbox = Outbox()
        var held = gesture()
        held.gesture.hold(from: at(0), to: at(801))
        _ = outbox.submit(held, at: at(801))
        _ = outbox.connected(at: at(2_000))
        #expect(line(outbox) == "queued 0 0 20000 - - broker released 8010")
    }

    @Test("has the names of chords, also those before a reload, and of 248 chords at most")
    func chordNames() {
        var names = ChordNames()
        let marks = (1...300).map { names.mark(of: "chord_\($0)") }
        #expect(Set(marks.prefix(248)).count == 248 && marks.dropFirst(248).allSatisfy { $0 == .max })
        #expect(marks.prefix(248).map(names.name) == (1...248).map { "chord_\($0)" })
        #expect(names.name(of: .max) == "chord" && names.mark(of: "chord_3") == marks[2])
        for gesture in GestureName.allCases { #expect(names.name(of: UInt8(gesture.index)) == gesture.rawValue) }
    }

    @Test("has the same time of day at each request, unless the time of day was set")
    func clock() {
        let clock = TraceClock(Timestamp(instant: start, unixMilliseconds: 1_795_169_702_114))
        for milliseconds in [0, 0.4, 0.9, 5_000.3] {
            let now = Timestamp(
                instant: at(milliseconds), unixMilliseconds: 1_795_169_702_114 + Int64(milliseconds + 0.8))
            #expect(clock.checked(at: now) == clock)
        }
        #expect(clock.text(of: at(0.999)) == "2026-11-20T10:15:02.114Z")
        #expect(clock.text(of: at(-0.001)) == "2026-11-20T10:15:02.113Z")
        let later = Timestamp(instant: at(60_000), unixMilliseconds: 1_795_169_700_000)
        #expect(clock.checked(at: later).text(of: at(59_000)) == "2026-11-20T10:14:59.000Z")
    }

    @Test("is kept for the last 1,024 gestures; later events of older ones are ignored")
    func ring() throws {
        var outbox = Outbox(window: 2_000)
        _ = outbox.connected(at: start)
        var tickets: [UInt64] = []
        for sequence in 1...1_030 { tickets += submit(&outbox, UInt64(sequence), at: 0).compactMap(\.ticket) }
        outbox.written(at: at(1))
        for ticket in tickets { _ = outbox.acknowledged(ticket, at: at(2)) }
        let all = outbox.gestures(TraceQuery(tag: nil, sequence: nil, count: 2_000))
        #expect(all.map(\.sequence) == Array(7...1_030))
        #expect(all.allSatisfy { $0.outcome == .acknowledged && $0.written != TraceTicks.never })
        #expect(outbox.gestures(TraceQuery(tag: 1, sequence: 9, count: 5)).map(\.sequence) == [9])
        #expect(outbox.gestures(TraceQuery(tag: 2, sequence: nil, count: 5)).isEmpty)
        #expect(outbox.gestures(TraceQuery(tag: 1, sequence: nil, count: 2)).map(\.sequence) == [1_029, 1_030])
    }

    @Test("has times of up to 78 minutes, in microseconds")
    func ticks() {
        let time = TraceTicks.at(start)
        #expect(
            TraceTicks.microseconds(Int64(TraceTicks.distance(from: time, to: TraceTicks.at(at(1.234))))) == 1_234 - 1)
        #expect(TraceTicks.distance(from: time, to: TraceTicks.at(start - .seconds(1))) == 0)
        #expect(
            TraceTicks.distance(from: time, to: TraceTicks.at(start + .seconds(36_000))) == TraceTicks.never - 1)
        #expect(abs(TraceTicks.microseconds(time) - 3_600_000_000) <= 2)
    }
}
