import Glibc
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Bounds of everything that a peer can make grow")
struct BoundsTests {
    private static let now = Scene.beginning.instant
    private static let led = "tag/003R/led/set"

    @Test("stored results take at most 2 MiB: the oldest are removed first, the newest stays")
    func storedResults() {
        var answered = StoredResults()
        func key(_ number: Int) -> StoredResults.Key { .init(resultTopic: "t", id: "\(number)") }
        for number in 0..<5_000 {
            answered.store([UInt8](repeating: 1, count: 40_000), for: key(number), at: Self.now)
        }
        let kept = (0..<5_000).count { answered.result(for: key($0), at: Self.now) != nil }
        #expect((10...52).contains(kept))
        #expect(answered.result(for: key(4_999), at: Self.now) != nil)
        answered.store([UInt8](repeating: 1, count: 3 << 20), for: key(5_000), at: Self.now)
        #expect(answered.result(for: key(5_000), at: Self.now) != nil)
        #expect(answered.result(for: key(4_999), at: Self.now) == nil)
    }

    @Test("exclusive chords hold back at most three gestures of a tag")
    func heldGestures() {
        let gestures: [Gesture] = [.doubleTap, .brushIn, .brushOut, .shortCover]
        let chords = (0..<16).map { number in
            let (even, odd) = (gestures[number % 4], gestures[number / 4])
            let of = [even, odd, even, odd]
            return Chord(name: "chord\(number)", of: of, within: .seconds(5), isExclusive: true)
        }
        var progress = ChordProgress(chords)
        var (last, published, most) = (UInt64(0), 0, 0)
        var generator = SplitMix(seed: 3)
        for _ in 0..<10_000 {
            let made = MadeGesture(
                gesture: gestures[Int(generator.next() % 4)], sequence: last + 1, at: Scene.beginning)
            let (events, completed) = progress.made(made)
            last += 1 + UInt64(completed.count)
            published += events.reduce(0) { if case .chord(_, let of, _, _) = $1 { $0 + 1 + of.count } else { $0 + 1 } }
            most = max(most, Int(last) - published)
        }
        #expect((2...3 + 3 * 16).contains(most), "gestures, and the chords that they complete")
    }

    @Test("at most 16,384 tags of other bridges are stored")
    func peers() {
        let scene = Scene.connected()
        for number in 0..<256 {
            let tags = (0..<4_000).map { #""\#(number)-\#($0)""# }.joined(separator: ",")
            scene.send("bridge/z\(number)/state", "online")
            scene.send("bridge/z\(number)/info", #"{"tags":[\#(tags)]}"#)
        }
        let remembered = (0..<256).count { scene.send("tag/\($0)-0/led/set", "on").isEmpty }
        #expect((1...4).contains(remembered))
    }

    @Test("commands with a long lifetime leave room for others")
    func longWaiting() {
        let scene = Scene()
        func codes(_ count: Int, ttl: Int) -> [String?] {
            let before = scene.results.count
            for _ in 0..<count { scene.send(Self.led, #"{"state":"ON","ttl_ms":\#(ttl)}"#) }
            return scene.results.dropFirst(before).map(\.error?.code)
        }
        #expect(codes(32, ttl: 86_400_000) == Array(repeating: "busy", count: 16))
        #expect(codes(16, ttl: 600_000) == Array(repeating: "busy", count: 8))
        #expect(codes(9, ttl: 60_000) == ["busy"])
        scene.wait(.seconds(60))
        #expect(codes(8, ttl: 60_000) == [])
    }

    @Test("commands with a long lifetime are all accepted while their tag is connected")
    func longButSent() {
        let scene = Scene.connected()
        for _ in 0..<32 { scene.send(Self.led, #"{"state":"ON","ttl_ms":86400000}"#) }
        #expect(scene.performed.count == 32)
        #expect(scene.results.isEmpty)
    }

    @Test("a tag has at most 128 discovery topics of earlier runs")
    func leftovers() {
        let scene = Scene.announcing(tags: [.tag003R])
        scene.begin()
        for number in 0..<20_000 {
            scene.receive(
                "homeassistant/light/jacquard_tag_003R/x\(number)/config", #"{"migrate_discovery":true}"#,
                isRetained: true)
        }
        // What the next form lacks is taken back first.
        let lines = (0..<4).flatMap { _ in scene.wait(.seconds(1)) }
        let topics = lines.filter { $0.hasPrefix("homeassistant/light/jacquard_tag_003R/x") }
            .compactMap { $0.split(separator: " ").first }
        #expect(Set(topics).count == 128)
    }

    @Test("acknowledging a message takes the same time for any number of messages in flight")
    func clearing() {
        // Ten times the messages take ten times as long, and a hundred times if each one searches all others.
        let ratio = Self.processorTime(acknowledging: 50_000) / Self.processorTime(acknowledging: 5_000)
        #expect(ratio < 40)
    }

    /// The processor time of this thread for acknowledging cleared topics.
    private static func processorTime(acknowledging count: Int) -> Duration {
        var outbox = Outbox(window: count)
        _ = outbox.connected(at: now)
        let tickets = (0..<count).flatMap { outbox.submit(.noFact("t/\($0)"), at: now).compactMap(\.ticket) }
        #expect(tickets.count == count)
        let start = processorTime
        for ticket in tickets { _ = outbox.acknowledged(ticket, at: now) }
        let duration = processorTime - start
        _ = outbox.connected(at: now)
        #expect(outbox.queued == 0)
        return duration
    }

    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("restarts of Home Assistant are answered one at a time")
    func reminders() {
        let scene = Scene.announced()
        let before = scene.publications.count
        for _ in 0..<1_000 {
            scene.receive("homeassistant/status", "online")
            scene.wait(.milliseconds(1))
        }
        scene.wait(.seconds(10))
        let bridges = scene.publications[before...].count {
            $0.topic == "homeassistant/device/jacquard_bridge_attic/config"
        }
        #expect(bridges == 2)
    }

    @Test("4,096 results are stored, and the next one replaces the oldest")
    func storedResultCount() {
        func key(_ number: Int) -> StoredResults.Key { .init(resultTopic: "t", id: "\(number)") }
        var answered = StoredResults()
        for number in 0..<4_096 { answered.store([1], for: key(number), at: Self.now) }
        #expect((0..<4_096).allSatisfy { answered.result(for: key($0), at: Self.now) == [1] })
        answered.store([2], for: key(4_096), at: Self.now)
        #expect(answered.result(for: key(0), at: Self.now) == nil)
        #expect(answered.result(for: key(1), at: Self.now) == [1])
        #expect(answered.result(for: key(4_096), at: Self.now) == [2])
    }

    @Test("at most 16 MiB of events are queued, such as 60,000 small ones")
    func events() {
        var outbox = Outbox()
        let event = Publication(topic: "t", payload: [1], kind: .event(lifetime: .seconds(5)))
        for _ in 0..<60_000 { _ = outbox.submit(event, at: Self.now) }
        #expect(outbox.queued == 60_000)
        #expect(outbox.dropped.events == 0)
        for _ in 0..<60_000 { _ = outbox.submit(event, at: Self.now) }
        #expect(outbox.queued < 70_000)
        #expect(outbox.dropped.events == 120_000 - outbox.queued)
    }

    @Test("the capacity of a queue depends only on the queued elements")
    func queue() {
        var steady = Queue<Int>()
        for number in 0..<10 { steady.append(number) }
        for number in 10..<100_000 {
            steady.append(number)
            let first = steady.removeFirst()
            #expect(first == number - 10)
        }
        #expect(steady.room <= 512)
        var rush = Queue<Int>()
        for number in 0..<100_000 { rush.append(number) }
        for _ in 0..<100_000 { rush.removeFirst() }
        #expect(rush.room <= 256)
    }

    @Test("16 refused subscriptions and 16 refused topics are stored")
    func refusals() {
        var rejectedTopics = RejectedTopics()
        for number in 100..<200 { rejectedTopics.refused(subscription: "s\(number)") }
        #expect(rejectedTopics.problems(at: Self.now).count == 16)
        rejectedTopics = RejectedTopics()
        for number in 100..<115 { rejectedTopics.refused(messageTo: "t\(number)", "r", at: Self.now) }
        rejectedTopics.refused(messageTo: "b", "r", at: Self.now)
        #expect(rejectedTopics.problems(at: Self.now).map { $0.text.contains("to b (r)") } == [true])
        rejectedTopics.refused(messageTo: "a", "r", at: Self.now)
        #expect(rejectedTopics.problems(at: Self.now).map { $0.text.contains("to b (r)") } == [true])
        rejectedTopics.refused(messageTo: "a", "r", at: Self.now + .seconds(600))
        #expect(rejectedTopics.problems(at: Self.now + .seconds(600)).map { $0.text.contains("to a (r)") } == [true])
    }

    @Test("256 received tags are stored: the one that was silent for longest is removed")
    func seenTags() {
        var seen = SeenTags()
        for number in 0..<300 {
            let tag = TagAdvertisement(address: "\(number)", serial: "0001", name: nil, rssi: -60)
            seen.received(tag, at: Scene.beginning + .seconds(number))
        }
        #expect(Set(seen.all.map(\.tag.address)) == Set((44..<300).map { "\($0)" }))
    }

    @Test("256 duplicate serials are stored; a further one is not reported until one of them is ten minutes old")
    func duplicateSerials() {
        var seen = SeenTags()
        let isNew = (0..<300).map { seen.duplicated("\($0)", at: Scene.beginning) }
        #expect(isNew == (0..<300).map { $0 < 256 })
        let isNewLater = [599, 600].map { seen.duplicated("299", at: Scene.beginning + .seconds($0)) }
        #expect(isNewLater == [false, true])
        let remaining = seen.duplicateSerials(at: Scene.beginning + .seconds(600))
        #expect(remaining == ["299"])
    }

    @Test("at most 1,000 tags are known by pairing; known tags can be paired again")
    func pairedTags() {
        let tags = (0..<1_000).map { TagEntry(id: .known("\($0 + 1_000)"), serial: "\($0 + 1_000)") }
        let scene = Scene(tags: tags)
        scene.powerOn()
        _ = scene.takeActions()
        scene.send("bridge/attic/request/pair", "9999")
        #expect(scene.lastError?.code == "not_permitted")
        #expect(scene.lastError?.text.contains("1,000") == true)
        #expect(scene.takeActions() == [])
        scene.send("bridge/attic/request/pair", "1999")
        #expect(scene.takeActions().count == 1)
    }

    @Test("a scan stores 4,096 addresses, and then starts over")
    func scannedAddresses() {
        var scan = ScanState()
        _ = scan.begin(until: Scene.beginning + .seconds(30), allowsDuplicates: false)
        let first = (0..<4_095).map { scan.admits("\($0)") }
        #expect(first.allSatisfy { $0 })
        let later = ["0", "4095", "0"].map { scan.admits($0) }
        #expect(later == [false, true, true])
    }
}
