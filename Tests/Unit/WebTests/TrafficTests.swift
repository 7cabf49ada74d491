import CommandLine
import HTTPServer
import JSON
import Terminal
import TestSupport
import Testing
import Time

@testable import Web

@Suite("Topic mirror")
struct TopicMirrorTests {
    private func mirror() -> TopicMirror {
        var mirror = TopicMirror(base: "home/jacquard", boot: "b1")
        mirror.connected()
        return mirror
    }

    @Test("keeps facts, passes on events, and ignores other topics and unchanged facts")
    func messages() {
        var mirror = mirror()
        let fact = mirror.received(topic: "home/jacquard/tag/003R/battery", payload: Array("{}".utf8))
        #expect(fact?.isRetained == true)
        #expect(mirror.received(topic: "home/jacquard/tag/003R/battery", payload: Array("{}".utf8)) == nil)
        let gesture = mirror.received(topic: "home/jacquard/tag/003R/gesture", payload: Array("{}".utf8))
        #expect(gesture?.isRetained == false)
        #expect(
            mirror.received(topic: "home/jacquard/tag/003R/led/result", payload: Array("{}".utf8))?.isRetained
                == false)
        #expect(mirror.received(topic: "home/jacquardx/tag/003R/battery", payload: Array("{}".utf8)) == nil)
        #expect(mirror.received(topic: "home/jacquard", payload: Array("{}".utf8)) == nil)
        #expect(
            mirror.received(topic: "home/jacquard/tag/003R/gear", payload: [UInt8](repeating: 0x20, count: 70000))
                == nil)
        #expect(mirror.all.map(\.topic) == ["home/jacquard/tag/003R/battery"])
        #expect(mirror.recent.count == 2)
    }

    @Test("removes a fact with an empty payload")
    func removal() {
        var mirror = mirror()
        _ = mirror.received(topic: "home/jacquard/tag/003R/battery", payload: Array("1".utf8))
        #expect(mirror.received(topic: "home/jacquard/tag/003R/battery", payload: [])?.json.isEmpty == false)
        #expect(mirror.received(topic: "home/jacquard/tag/003R/battery", payload: []) == nil)
        #expect(mirror.count == 0)
        #expect(mirror.factBytes == 0)
    }

    @Test("an event is one line of JSON with its number")
    func text() {
        var mirror = mirror()
        let event = mirror.received(topic: "home/jacquard/tag/003R/gear", payload: Array("a\nb\u{1F600}".utf8))
        #expect(
            event.map { String(decoding: $0.text, as: UTF8.self) }
                == "id: b1-1\ndata: {\"payload\":\"a\\nb\u{1F600}\",\"retained\":true,\"topic\":\"home/jacquard/tag/003R/gear\"}\n\n"
        )
    }

    @Test("resumes after a known event, and not after an unknown one")
    func resume() {
        var mirror = mirror()
        for number in 1...5 {
            _ = mirror.received(topic: "home/jacquard/tag/1/gesture", payload: Array("\(number)".utf8))
        }
        #expect(mirror.events(after: EventID("b1-3"))?.map(\.number) == [4, 5])
        #expect(mirror.events(after: EventID("b1-5"))?.isEmpty == true)
        #expect(mirror.events(after: EventID("b1-6")) == nil)
        #expect(mirror.events(after: EventID("b2-3")) == nil)
        #expect(mirror.events(after: nil) == nil)
        for number in 1...2000 {
            _ = mirror.received(topic: "home/jacquard/tag/1/gesture", payload: Array("\(number)".utf8))
        }
        #expect(mirror.events(after: EventID("b1-3")) == nil)
        #expect(mirror.events(after: EventID("b1-1004")) == nil)
        #expect(mirror.events(after: EventID("b1-1005"))?.count == 1000)
        #expect(mirror.recent.count == TopicMirror.ringSize)
    }

    @Test("is bounded in bytes")
    func bounds() {
        var mirror = mirror()
        let payload = [UInt8](repeating: 0x61, count: 60000)
        for number in 1...400 { _ = mirror.received(topic: "home/jacquard/tag/\(number)/gear", payload: payload) }
        #expect(mirror.factBytes <= TopicMirror.mirrorBytes)
        #expect(mirror.omitted > 0)
        #expect(mirror.recent.isEmpty)
        for _ in 1...100 { _ = mirror.received(topic: "home/jacquard/tag/1/gesture", payload: payload) }
        #expect(mirror.recent.count < 20)
        #expect(mirror.recent.map(\.text.count).reduce(0, +) <= TopicMirror.ringBytes)
        // Small events fill the ring again.
        for _ in 1...1000 { _ = mirror.received(topic: "home/jacquard/tag/1/gesture", payload: Array("1".utf8)) }
        #expect(mirror.recent.count == TopicMirror.ringSize)
        #expect(
            mirror.recent.map { String(decoding: $0.json, as: UTF8.self) }.last?.hasPrefix("{\"payload\":\"1\"") == true
        )
    }

    @Test("counts what a fact occupies beside its bytes, which bounds the number of facts")
    func numberOfFacts() {
        var mirror = mirror()
        for number in 1...70_000 {
            _ = mirror.received(topic: "home/jacquard/tag/\(number)/rssi", payload: [0x31])
        }
        #expect(mirror.count == mirror.all.count)
        #expect((50_000...65_536).contains(mirror.count))
        #expect(mirror.count + mirror.omitted == 70_000)
        #expect(mirror.factBytes <= TopicMirror.mirrorBytes)
        // A new connection on which the broker sends none of them.
        mirror.connected()
        _ = mirror.removeStale()
        #expect(mirror.count == 0 && mirror.all.isEmpty && mirror.factBytes == 0)
    }

    @Test("ignores topics without a tag's id or a bridge's name, and long ones", arguments: foreignTopics)
    func foreign(rest: String) {
        var mirror = mirror()
        #expect(mirror.received(topic: "home/jacquard/\(rest)", payload: Array("1".utf8)) == nil)
        #expect(mirror.count == 0 && mirror.recent.isEmpty)
    }

    fileprivate static let long = String(repeating: "1", count: 65)

    private static let foreignTopics = [
        "tag/\(long)/rssi", "tag/\(long)/gesture", "bridge/\(long)/state", "tag//rssi", "tag/a b/rssi",
        "tag/\u{E9}/rssi", "bridge/a.b/state", "bridge/\u{1F600}/log", "tag/1", "tag", "", "group/1/rssi",
        "tag/1/\(String(repeating: "x", count: 600))/result",
    ]

    @Test("keeps the newest gesture of each tag, however many other events follow it")
    func lastGestures() {
        var mirror = mirror()
        func receive(_ rest: String, _ text: String) {
            _ = mirror.received(topic: "home/jacquard/\(rest)", payload: Array(text.utf8))
        }
        for id in ["1", "2", "3"] {
            receive("tag/\(id)/info", "{}")
            receive("tag/\(id)/gesture", "first of \(id)")
        }
        receive("tag/2/gesture", "second of 2")
        for number in 1...1100 { receive("bridge/a/event", "\(number)") }
        receive("tag/3/gesture", "second of 3")
        receive("tag/1/info", "")
        let texts = mirror.recent.map { String(decoding: $0.json, as: UTF8.self) }.filter { $0.contains("/gesture") }
        #expect(texts.count == 2)
        #expect(texts.first?.contains("second of 2") == true && texts.last?.contains("second of 3") == true)
        #expect(mirror.recent.map(\.number) == mirror.recent.map(\.number).sorted())
        receive("tag/2/gesture", String(repeating: "x", count: 2000))
        for number in 1...1100 { receive("bridge/a/event", "\(number)") }
        #expect(mirror.recent.map(\.text.count).max() ?? 0 <= TopicMirror.gestureBytes)
    }

    @Test("the history has the end of a tag behind its gestures, and nothing of the tag from before the newest events")
    func ends() {
        var mirror = mirror()
        func receive(_ rest: String, _ text: String) {
            _ = mirror.received(topic: "home/jacquard/\(rest)", payload: Array(text.utf8))
        }
        func history() -> [String] { mirror.recent.map { "\($0.topic.dropFirst(14))\($0.endsTag ? " ends" : "")" } }
        receive("tag/1/info", "{}")
        receive("bridge/a/info", "{}")
        receive("tag/1/gesture", "first")
        receive("tag/1/battery", "{}")
        receive("tag/1/battery", "")
        receive("tag/1/info", "")
        receive("bridge/a/info", "")
        receive("tag/1/info", "{}")
        #expect(history() == ["tag/1/gesture", "tag/1/info ends"])
        receive("tag/1/gesture", "second")
        mirror.connected()
        #expect(mirror.removeStale().map(\.endsTag) == [true])
        #expect(history() == ["tag/1/gesture", "tag/1/info ends", "tag/1/gesture", "tag/1/info ends"])
        for number in 1...1100 { receive("bridge/a/event", "\(number)") }
        #expect(history().allSatisfy { $0 == "bridge/a/event" })
    }

    @Test("events have the time at which they were received; facts, and events that the broker had stored, have none")
    func times() {
        var scene = Scene()
        func time(_ rest: String, isStored: Bool = false) -> JSONValue? {
            let event = scene.page.received(
                rest[...], topic: "jacquard/\(rest)", payload: Array("1".utf8), isStored: isStored, at: scene.now)
            return event.flatMap { JSONValue(parsing: Array($0.json)) }?["received_ms"]
        }
        let now = JSONValue.integer(scene.now.unixMilliseconds)
        #expect(time("tag/1/gesture") == now)
        #expect(time("bridge/a/response/log") == now)
        #expect(time("tag/1/gesture", isStored: true) == nil)
        #expect(time("tag/1/gear") == nil)
        let gestures = scene.page.history.document(of: "1", at: scene.now.unixSeconds)["gestures"]?.elements
        #expect(gestures?.last == 1)
    }

    @Test("the state of a bridge has the time in which the bridge was last away, as far as it is known")
    func absences() {
        var scene = Scene(hasStored: false)
        func state(_ text: String) -> JSONValue? {
            scene.wait(.seconds(1))
            let event = scene.page.received(
                "bridge/a/state", topic: "jacquard/bridge/a/state", payload: Array(text.utf8), isStored: true,
                at: scene.now)
            return event.flatMap { JSONValue(parsing: Array($0.json)) }?["away"]
        }
        func away(_ from: Int64?, _ to: Int64?) -> JSONValue {
            ["from_ms": from.map(JSONValue.integer) ?? .null, "to_ms": to.map(JSONValue.integer) ?? .null]
        }
        let start = scene.now.unixMilliseconds
        #expect(state("offline") == away(nil, nil))
        _ = scene.page.storedReceived()
        #expect(state("online") == away(nil, start + 2_000))
        #expect(state("offline") == away(start + 3_000, nil))
        #expect(state("online") == away(start + 3_000, start + 4_000))
        let stored = scene.page.mirror.all.first.flatMap { JSONValue(parsing: $0.json) }
        #expect(stored?["away"] == away(start + 3_000, start + 4_000))
        // What the broker had stored is older than its arrival.
        _ = scene.page.brokerChanged(isConnected: true, "connected", at: scene.now)
        #expect(state("offline") == away(nil, nil))
        #expect(state("") == nil)
        _ = scene.page.storedReceived()
        #expect(state("online") == nil)
        let others = scene.page.received(
            "bridge/a/health", topic: "jacquard/bridge/a/health", payload: Array("1".utf8), at: scene.now)
        #expect(others.flatMap { JSONValue(parsing: Array($0.json)) }?["away"] == nil)
    }

    @Test("the forecast of a battery and the progress of pairing are facts")
    func otherFacts() {
        for rest in ["tag/1/battery/forecast", "bridge/a/pairing"] { #expect(TopicMirror.isFact(rest[...]), "\(rest)") }
        for rest in ["tag/1/battery/result", "tag/1/led/forecast", "bridge/a/response/log"] {
            #expect(!TopicMirror.isFact(rest[...]), "\(rest)")
        }
    }

    @Test("subscribes to what a page shows: not to streams for programs, nor to what is sent in another form")
    func filters() {
        let filters = mirror().filters
        #expect(
            filters.filter { $0.hasPrefix("home/jacquard/bridge/") } == [
                "home/jacquard/bridge/+/info", "home/jacquard/bridge/+/health", "home/jacquard/bridge/+/adapter",
                "home/jacquard/bridge/+/scan", "home/jacquard/bridge/+/tags", "home/jacquard/bridge/+/pairing",
                "home/jacquard/bridge/+/state", "home/jacquard/bridge/+/advertisement", "home/jacquard/bridge/+/event",
                "home/jacquard/bridge/+/log", "home/jacquard/bridge/+/response/+",
            ])
        for topic in ["availability", "connection", "battery", "gear", "info", "led", "rssi", "stats", "gesture"] {
            #expect(filters.contains("home/jacquard/tag/+/\(topic)"), "\(topic)")
        }
        for topic in ["battery/level", "touch"] {
            #expect(!filters.contains("home/jacquard/tag/+/\(topic)"), "\(topic)")
        }
    }

    @Test("removes what the broker does not send again after a new connection")
    func stale() {
        var mirror = mirror()
        for id in ["1", "2"] { _ = mirror.received(topic: "home/jacquard/tag/\(id)/gear", payload: Array("x".utf8)) }
        #expect(mirror.removeStale().isEmpty)
        mirror.connected()
        _ = mirror.received(topic: "home/jacquard/tag/2/gear", payload: Array("x".utf8))
        #expect(mirror.removeStale().map(\.topic) == ["home/jacquard/tag/1/gear"])
        #expect(mirror.all.map(\.topic) == ["home/jacquard/tag/2/gear"])
    }

    @Test(
        "reads event ids strictly",
        arguments: [
            "", "-", "b1", "b1-", "-1", "b1-x", "b1-1-1", "b1--1", "b1-99999999999999999999999", "b1- 1", "b1-+1",
        ])
    func ids(text: String) {
        #expect(EventID(text) == nil)
        #expect(EventID("b1-18446744073709551615")?.number == .max)
    }
}

@Suite("Streams of events")
struct StreamBeginningTests {
    private func parts(_ beginning: StreamBeginning, _ mirror: TopicMirror) -> [String] {
        var beginning = beginning
        var parts: [String] = []
        while let part = beginning.takeNext(from: mirror) { parts.append(String(decoding: part, as: UTF8.self)) }
        return parts
    }

    @Test("begin with the broker, the facts in parts, the latest events, and the number to resume from")
    func mirror() {
        var scene = Scene()
        for number in 1...100 {
            _ = scene.page.mirror.received(topic: "jacquard/tag/\(number)/gear", payload: Array("1".utf8))
        }
        _ = scene.page.mirror.received(topic: "jacquard/tag/1/gesture", payload: Array("2".utf8))
        let beginning = scene.page.beginning(
            of: .init(secret: "s", owner: "o", role: .admin, after: nil, touch: []), at: scene.now)
        let parts = parts(beginning, scene.page.mirror)
        #expect(parts.count == 5)
        #expect(parts[0].contains("event: broker\ndata: {\"connected\":true"))
        #expect(parts[1].hasPrefix("event: mirror\ndata: [{"))
        #expect(parts[3].contains("gesture") && parts[3].hasPrefix("event: history\n"))
        #expect(parts[4] == "id: b1-101\nevent: ready\ndata: {}\n\n")
    }

    @Test("have a long history in parts of at most 64 KiB and one event, each event once and in order")
    func longHistory() {
        var scene = Scene()
        let padding = String(repeating: "x", count: 3000)
        for number in 1...300 {
            _ = scene.page.mirror.received(
                topic: "jacquard/bridge/a/event", payload: Array("\(number) \(padding)".utf8))
        }
        let beginning = scene.page.beginning(
            of: .init(secret: "s", owner: "o", role: .admin, after: nil, touch: []), at: scene.now)
        let parts = parts(beginning, scene.page.mirror)
        let history = parts.filter { $0.hasPrefix("event: history\n") }
        #expect(history.count > 10 && parts.last?.contains("event: ready") == true)
        #expect(history.allSatisfy { $0.utf8.count <= StreamBeginning.bytesPerPart + 2 * 3100 })
        let events = history.flatMap { part in
            JSONValue(parsing: Array(part.split(separator: "data: ")[1].utf8))?.elements ?? []
        }
        let numbers = events.compactMap { $0["payload"]?.string?.split(separator: " ").first }.compactMap { Int($0) }
        #expect(numbers == Array(1...300))
    }

    @Test("contain a history event even without events: a browser then replaces what it has")
    func emptyHistory() {
        let scene = Scene()
        let beginning = scene.page.beginning(
            of: .init(secret: "s", owner: "o", role: .admin, after: nil, touch: []), at: scene.now)
        #expect(parts(beginning, scene.page.mirror).contains("event: history\ndata: []\n\n"))
    }

    @Test("are ready when the broker has sent its stored messages, once")
    func ready() {
        var scene = Scene(hasStored: false)
        func beginning(after id: EventID? = nil) -> String {
            parts(
                scene.page.beginning(
                    of: .init(secret: "s", owner: "o", role: .admin, after: id, touch: []), at: scene.now),
                scene.page.mirror
            ).joined()
        }
        _ = scene.page.mirror.received(topic: "jacquard/tag/1/gear", payload: Array("1".utf8))
        #expect(beginning().contains("tag/1/gear") && !beginning().contains("event: ready"))
        #expect(beginning(after: EventID("b1-0")).contains("tag/1/gear"))
        #expect(!beginning(after: EventID("b1-0")).contains("event: resume"))
        #expect(
            scene.page.storedReceived().map { String(decoding: $0, as: UTF8.self) }
                == "id: b1-1\nevent: ready\ndata: {}\n\n")
        #expect(beginning().hasSuffix("id: b1-1\nevent: ready\ndata: {}\n\n"))
        #expect(beginning(after: EventID("b1-0")).contains("event: resume"))
        // What was known before a lost connection is shown meanwhile.
        _ = scene.page.brokerChanged(isConnected: false, "lost", at: scene.now)
        _ = scene.page.brokerChanged(isConnected: true, "connected", at: scene.now)
        #expect(beginning().contains("event: ready"))
        #expect(scene.page.storedReceived() == nil)
    }

    @Test("contain only what the role may read")
    func roles() {
        var scene = Scene()
        _ = scene.page.mirror.received(topic: "jacquard/tag/1/gear", payload: Array("1".utf8))
        _ = scene.page.mirror.received(topic: "jacquard/bridge/a/health", payload: Array("1".utf8))
        _ = scene.page.mirror.received(topic: "jacquard/bridge/a/state", payload: Array("1".utf8))
        let beginning = scene.page.beginning(
            of: .init(secret: "s", owner: "o", role: .automation, after: nil, touch: []), at: scene.now)
        let text = parts(beginning, scene.page.mirror).joined()
        #expect(text.contains("tag/1/gear") && text.contains("bridge/a/state") && !text.contains("health"))
        let resumed = parts(
            scene.page.beginning(
                of: .init(secret: "s", owner: "o", role: .automation, after: EventID("b1-0"), touch: []), at: scene.now),
            scene.page.mirror
        ).joined()
        #expect(resumed.contains("event: resume") && resumed.contains("tag/1/gear") && !resumed.contains("health"))
    }

    @Test("continue where they were while facts come and go, with few facts that are large in a part")
    func changes() {
        var scene = Scene()
        for number in 100..<300 {
            _ = scene.page.mirror.received(topic: "jacquard/tag/\(number)/gear", payload: Array("1".utf8))
        }
        var beginning = scene.page.beginning(
            of: .init(secret: "s", owner: "o", role: .admin, after: nil, touch: []), at: scene.now)
        func next() -> String {
            String(decoding: beginning.takeNext(from: scene.page.mirror) ?? [], as: UTF8.self)
        }
        #expect(next().contains("event: broker"))
        #expect(next().contains("tag/163/gear"))
        // The last one that was sent, the next one, one that was sent, and new ones on both sides.
        for number in [163, 164, 101] {
            _ = scene.page.mirror.received(topic: "jacquard/tag/\(number)/gear", payload: [])
        }
        for id in ["1000", "164x"] {
            _ = scene.page.mirror.received(topic: "jacquard/tag/\(id)/gear", payload: Array("1".utf8))
        }
        let second = next()
        #expect(second.contains("tag/164x/gear") && second.contains("tag/165/gear") && second.contains("tag/227/gear"))
        #expect(!second.contains("tag/1000/") && !second.contains("tag/164/") && !second.contains("tag/228/"))
        let large = [UInt8](repeating: 0x61, count: 10_000)
        for number in 228..<300 {
            _ = scene.page.mirror.received(topic: "jacquard/tag/\(number)/gear", payload: large)
        }
        let third = next()
        #expect(third.contains("tag/229/gear") && !third.contains("tag/230/gear"))
    }

    @Test("continue after the number in the query, and after that of the header of a browser that reconnects by itself")
    func numbers() {
        var scene = Scene()
        let session = scene.session(.viewer)
        func after(_ query: [String: String], _ headers: [String: String] = [:]) -> EventID? {
            guard case .stream(let subscription) = scene.handle(.get("/events", query, session.merging(headers) { $1 }))
            else { return nil }
            return subscription.after
        }
        #expect(after(["after": "b1-7"]) == EventID("b1-7"))
        #expect(after(["after": "b1-7"], ["last-event-id": "b1-9"]) == EventID("b1-9"))
        #expect(after(["after": "garbage"]) == nil)
        #expect(after([:]) == nil)
    }

    @Test("say when the broker was last heard, by the server's clock")
    func ages() {
        var scene = Scene()
        func broker() -> JSONValue? {
            let text = String(decoding: scene.page.brokerEvent(at: scene.now), as: UTF8.self)
            let data = text.split(separator: "\n").first { $0.hasPrefix("data: ") }
            return data.flatMap { JSONValue(parsing: Array($0.dropFirst(6).utf8)) }
        }
        let begin = scene.now.unixMilliseconds
        scene.wait(.seconds(5))
        scene.page.brokerHeard(at: scene.now.instant)
        scene.page.brokerHeard(at: nil)
        scene.wait(.seconds(11))
        #expect(broker()?["heard_ms"]?.integer == begin + 5_000)
        #expect(broker()?["now_ms"]?.integer == begin + 16_000)
        // A broker that hangs was not heard when it is given up.
        _ = scene.page.brokerChanged(isConnected: false, "no longer responds", at: scene.now)
        scene.wait(.seconds(4))
        #expect(broker()?["heard_ms"]?.integer == begin + 5_000)
        #expect(broker()?["since_ms"]?.integer == begin + 16_000)
        _ = scene.page.brokerChanged(isConnected: true, "connected", at: scene.now)
        #expect(broker()?["heard_ms"]?.integer == begin + 20_000)
        // The wall clock was set back meanwhile: ages don't change.
        scene.now = PageServer.Moment(instant: scene.now.instant + .seconds(3), unixMilliseconds: begin)
        #expect(broker()?["heard_ms"]?.integer == begin - 3_000)
    }

    @Test("are requested with a session, valid tags, and a number that may be wrong")
    func requests() {
        var scene = Scene()
        let session = scene.session(.viewer)
        #expect(scene.answer(.get("/events", [:], session)) == "stream")
        #expect(scene.answer(.get("/events", ["touch": "003R"], session)) == "stream")
        #expect(scene.answer(.get("/events", ["touch": "003R,0001"], session)) == "stream")
        #expect(scene.answer(.get("/events", ["touch": "003R,+"], session)) == "400 invalid_argument")
        let many = (1...17).map(String.init).joined(separator: ",")
        #expect(scene.answer(.get("/events", ["touch": many], session)) == "400 invalid_argument")
        #expect(scene.answer(.get("/events", ["touch": "+"], session)) == "400 invalid_argument")
        #expect(scene.answer(.get("/events", ["touch": ""], session)) == "400 invalid_argument")
        #expect(scene.answer(.get("/events", [:], session.merging(["last-event-id": "garbage"]) { $1 })) == "stream")
        #expect(scene.answer(.get("/history", ["tag": "a/b"], session)) == "400 invalid_argument")
        #expect(scene.answer(.get("/history", [:], session)) == "400 invalid_argument")
    }
}

@Suite("Request headers")
struct RequestHeadersTests {
    @Test("finds a cookie that is sent once")
    func cookies() {
        #expect(RequestHeaders.cookie("a", in: "a=1") == "1")
        #expect(RequestHeaders.cookie("a", in: "b=2; a=1=1;c") == "1=1")
        #expect(RequestHeaders.cookie("a", in: "aa=1; ba=2") == nil)
        #expect(RequestHeaders.cookie("a", in: "a=1; a=2") == nil)
        #expect(RequestHeaders.cookie("a", in: nil) == nil)
        #expect(RequestHeaders.cookie("a", in: ";;=;a") == nil)
    }

    @Test("takes the address that the nearest proxy has added")
    func forwarded() {
        #expect(RequestHeaders.lastForwarded("1.2.3.4, 5.6.7.8") == "5.6.7.8")
        for text in ["2001:DB8::1", "2001:db8:0::1", "[2001:db8::1]", "[2001:db8::1]:50123"] {
            #expect(RequestHeaders.lastForwarded(text) == "2001:db8::1")
        }
        #expect(RequestHeaders.lastForwarded("1.2.3.4:1000") == "1.2.3.4")
        for text in [
            "", ",", "unknown", "1.2.3.4, <x>", String(repeating: "1", count: 99), "1.2.3.4:", "1.2.3.4:123456", "[1",
            "[::1]x",
            "abc", "::1]",
        ] {
            #expect(RequestHeaders.lastForwarded(text) == nil, "\(text)")
        }
    }
}

@Suite("History")
struct HistoryTests {
    @Test("keeps 24 hours of battery, signal and gestures")
    func day() throws {
        var history = History()
        let start: Int64 = 1_795_327_200
        history.received("tag/1/battery", Array(#"{"level":87}"#.utf8), at: start)
        history.received("tag/1/rssi", Array("-61".utf8), at: start + 300)
        for _ in 1...3 { history.received("tag/1/gesture", Array("{}".utf8), at: start + 3600) }
        let document = history.document(of: "1", at: start + 7200)
        let battery = try #require(document["battery"]?.elements), signal = try #require(document["signal"]?.elements)
        #expect(battery.count == 288 && battery[287 - 24] == 87)
        #expect(signal[287 - 23] == -61)
        let gestures = try #require(document["gestures"]?.elements)
        #expect(gestures.count == 24 && gestures[22] == 3)
        let later = history.document(of: "1", at: start + 25 * 3600)
        #expect(later["battery"]?.elements?.allSatisfy { $0 == .null } == true)
    }

    @Test("ignores what is not a number in range, and other topics")
    func invalid() {
        var history = History()
        for payload in ["", "x", "{}", #"{"level":101}"#, #"{"level":"5"}"#, "-500", "[]"] {
            history.received("tag/1/battery", Array(payload.utf8), at: 0)
            history.received("tag/1/rssi", Array(payload.utf8), at: 0)
        }
        history.received("bridge/1/battery", Array(#"{"level":10}"#.utf8), at: 0)
        #expect(history.count == 0)
    }

    @Test("forgets a tag whose topics are removed, and is bounded")
    func bounds() {
        var history = History()
        for number in 0..<5000 { history.received("tag/\(number)/gesture", Array("{}".utf8), at: 0) }
        #expect(history.count == History.mostTags)
        history.received("tag/5/info", [], at: 0)
        #expect(history.count == History.mostTags - 1)
    }

    @Test("forgets the battery of a tag whose battery is removed, and a tag that was removed while the broker was away")
    func removal() {
        var scene = Scene()
        func receive(_ rest: String, _ text: String) {
            _ = scene.page.received(
                rest[...], topic: "jacquard/\(rest)", payload: Array(text.utf8), at: scene.now)
        }
        func last(_ row: String) -> JSONValue? {
            scene.page.history.document(of: "1", at: scene.now.unixSeconds)[row]?.elements?.last
        }
        receive("tag/1/info", "{}")
        receive("tag/1/battery", #"{"level":87}"#)
        receive("tag/1/rssi", "-50")
        receive("tag/1/battery", "")
        #expect(last("battery") == .null && last("signal") == -50)
        receive("tag/1/battery", #"{"level":86}"#)
        _ = scene.page.brokerChanged(isConnected: true, "connected", at: scene.now)
        #expect(scene.page.removeStale(at: scene.now).count == 3)
        #expect(last("battery") == .null && last("signal") == .null && scene.page.history.count == 0)
    }

    @Test("forgets tags without a value for a week, so that others have charts")
    func expiry() {
        var history = History()
        let start: Int64 = 1_795_327_200, end = start + History.longestSeconds
        for number in 0..<History.mostTags {
            history.received("tag/\(number)/gesture", Array("{}".utf8), at: start + (number == 7 ? 3600 : 0))
        }
        history.received("tag/new/rssi", Array("-50".utf8), at: end - 300)
        #expect(history.count == History.mostTags)
        #expect(history.document(of: "new", at: end)["signal"]?.elements?.last == .null)
        history.received("tag/new/rssi", Array("-50".utf8), at: end)
        #expect(history.document(of: "new", at: end)["signal"]?.elements?.last == -50)
        #expect(history.count == 2)
    }

    /// The connection of tag 1 in the last slots, oldest first: `1`, `0` and `-` for unknown.
    private static func connection(_ history: History, _ slots: Int, at now: Int64) -> String {
        let row = history.document(of: "1", at: now)["connection"]?.elements?.suffix(slots) ?? []
        return row.map { $0.integer.map(String.init) ?? "-" }.joined()
    }

    @Test("does not know which tags of a bridge are online while it is away, and until it says so again")
    func absentBridge() {
        var history = History()
        let start: Int64 = 1_795_327_200
        func receive(_ topic: String, _ text: String, at slot: Int64) {
            history.received(topic[...], Array(text.utf8), at: start + slot * 300)
        }
        receive("tag/1/info", #"{"bridge":"attic"}"#, at: 0)
        receive("tag/1/availability", "online", at: 0)
        receive("bridge/attic/state", "offline", at: 3)
        receive("bridge/cellar/state", "online", at: 4)
        // It was connected to no tag when it started.
        receive("bridge/attic/state", "online", at: 6)
        #expect(Self.connection(history, 9, at: start + 8 * 300) == "-111-----")
        receive("tag/1/availability", "offline", at: 8)
        receive("tag/1/availability", "online", at: 10)
        #expect(Self.connection(history, 12, at: start + 11 * 300) == "-111-----001")
        // It goes on where it was if it has only not answered.
        history.bridgeChanged("attic", isOnline: false, isSameRun: true, at: start + 12 * 300)
        history.bridgeChanged("attic", isOnline: true, isSameRun: true, at: start + 14 * 300)
        #expect(Self.connection(history, 7, at: start + 16 * 300) == "011--11")
        // The tag moves to a bridge that is away.
        receive("bridge/cellar/state", "offline", at: 16)
        receive("tag/1/info", #"{"bridge":"cellar"}"#, at: 17)
        #expect(Self.connection(history, 4, at: start + 19 * 300) == "11--")
        // It comes back while the page's server is not connected: the tag's stored availability comes first.
        var other = History()
        other.received("tag/1/info", Array(#"{"bridge":"attic"}"#.utf8), at: start)
        other.received("bridge/attic/state", Array("offline".utf8), at: start)
        other.brokerLost(at: start)
        for (topic, text) in [("tag/1/availability", "online"), ("bridge/attic/state", "online")] {
            other.received(topic[...], Array(text.utf8), isStored: true, at: start + 300)
        }
        #expect(Self.connection(other, 3, at: start + 600) == "--1")
        // A bridge that was removed does not come back by itself.
        receive("bridge/cellar/state", "", at: 19)
        #expect(Self.connection(history, 4, at: start + 20 * 300) == "1---")
    }

    @Test("keeps no signal that may be old: a stored one of a tag that is offline, and one that its bridge repeats")
    func oldSignal() {
        var history = History()
        func receive(_ topic: String, _ text: String, isStored: Bool = true) {
            history.received(topic[...], Array(text.utf8), isStored: isStored, at: 1_795_327_200)
        }
        func signal() -> JSONValue? { history.document(of: "1", at: 1_795_327_200)["signal"]?.elements?.last }
        receive("tag/1/info", #"{"bridge":"attic"}"#)
        receive("tag/1/rssi", "-63")
        receive("tag/1/availability", "offline")
        receive("tag/1/rssi", "-62")
        receive("tag/1/availability", "online", isStored: false)
        #expect(signal() == .null)
        receive("tag/1/availability", "offline", isStored: false)
        // A tag that is not connected advertises.
        receive("tag/1/rssi", "-61", isStored: false)
        #expect(signal() == -61)
        // After a start of the page's server, in any order.
        let messages = [("rssi", "-59"), ("availability", "online")]
        for ordered in [messages, messages.reversed()] {
            history = History()
            for (name, text) in ordered { receive("tag/1/\(name)", text) }
            #expect(signal() == -59)
        }
        var scene = Scene()
        func publish(_ name: String, _ text: String) {
            let rest = "tag/1/\(name)"
            _ = scene.page.received(rest[...], topic: "jacquard/\(rest)", payload: Array(text.utf8), at: scene.now)
        }
        publish("availability", "offline")
        publish("rssi", "-50")
        scene.wait(.seconds(600))
        publish("rssi", "-50")
        let row = scene.page.history.document(of: "1", at: scene.now.unixSeconds)["signal"]?.elements
        #expect(row?.suffix(3) == [-50, .null, .null])
    }

    @Test("ignores topics without a tag's id")
    func ids() {
        var history = History()
        for id in ["", TopicMirrorTests.long, "a b", "\u{E9}", "a.b"] {
            history.received("tag/\(id)/gesture", Array("{}".utf8), at: 0)
        }
        #expect(history.count == 0)
    }

    @Test("ignores payloads that are longer than those of facts")
    func longPayload() {
        var scene = Scene()
        let space = [UInt8](repeating: 0x20, count: TopicMirror.payloadLimit)
        let payload = Array("-50".utf8) + space
        _ = scene.page.received("tag/1/rssi", topic: "jacquard/tag/1/rssi", payload: payload, at: scene.now)
        #expect(scene.page.history.count == 0)
        _ = scene.page.received("tag/1/rssi", topic: "jacquard/tag/1/rssi", payload: Array("-50".utf8), at: scene.now)
        #expect(scene.page.history.count == 1 && scene.page.mirror.count == 1)
    }

    @Test("keeps seven days of the same in slots of half an hour")
    func week() {
        var history = History()
        let start: Int64 = 1_795_327_200
        history.received("tag/1/battery", Array(#"{"level":87}"#.utf8), at: start)
        history.received("tag/1/gesture", Array("{}".utf8), at: start)
        let document = history.document(of: "1", .week, at: start + 7 * 86_400 - 3600)
        #expect(document["slot_s"] == 1800)
        #expect(document["battery"]?.elements?.count == 336 && document["battery"]?.elements?[1] == 87)
        #expect(document["gestures"]?.elements?.count == 168 && document["gestures"]?.elements?[0] == 1)
        #expect(history.document(of: "1", .week, at: start + 7 * 86_400)["gestures"]?.elements?[0] == .null)
    }

    @Test(
        "the connection goes on until it changes, is offline in a slot with a short end, and unknown without the broker"
    )
    func connection() throws {
        var history = History()
        let start: Int64 = 1_795_327_200
        func receive(_ word: String, _ seconds: Int64) {
            history.received("tag/1/availability", Array(word.utf8), at: start + seconds)
        }
        receive("offline", 0)
        receive("online", 100)
        receive("offline", 910)
        receive("online", 920)
        receive("maybe", 1300)
        history.brokerLost(at: start + 1500)
        receive("offline", 2100)
        let rows = try #require(history.document(of: "1", at: start + 2400)["connection"]?.elements)
        let words = rows.suffix(10).map { $0.integer.map(String.init) ?? "-" }.joined(separator: " ")
        #expect(words == "- - 1 1 0 1 1 - - 0")
    }

    @Test("goes on after a restart of the page, and knows nothing of the time between")
    func restart() throws {
        var history = History()
        let start: Int64 = 1_795_327_200
        for (topic, payload) in [
            ("battery", #"{"level":87}"#), ("rssi", "-61"), ("availability", "online"), ("gesture", "{}"),
        ] {
            history.received("tag/1/\(topic)", Array(payload.utf8), at: start)
        }
        let folder = try ScratchFolder()
        let files = try #require(StateFiles(environment: [:], runtime: folder.path))
        history.received("tag/1/availability", Array("online".utf8), at: start + 300)
        #expect(files.write(history))
        var next = files.readHistory()
        next.received("tag/1/availability", Array("online".utf8), at: start + 3600)
        next.received("tag/1/availability", Array("online".utf8), at: start + 3900)
        for span in [History.Span.day, .week] {
            let before = history.document(of: "1", span, at: start + 3900)
            let after = next.document(of: "1", span, at: start + 3900)
            for row in ["battery", "signal", "gestures"] { #expect(after[row] == before[row]) }
        }
        let rows = next.document(of: "1", at: start + 3900)["connection"]?.elements ?? []
        let words = rows.suffix(15).map { $0.integer.map(String.init) ?? "-" }.joined(separator: " ")
        #expect(words == "- - 1 - - - - - - - - - - - 1")
    }

    @Test("stores the tags that have changed last")
    func mostStored() throws {
        var history = History()
        for number in 0..<(History.mostStored + 2) {
            history.received("tag/\(number)/rssi", Array("-50".utf8), at: 1_795_327_200 + Int64(number))
        }
        let stored = History(stored: history.stored)
        #expect(stored.count == History.mostStored)
        #expect(stored.document(of: "1", at: 1_795_329_000)["signal"]?.elements?.contains(-50) == false)
        #expect(stored.document(of: "2", at: 1_795_329_000)["signal"]?.elements?.contains(-50) == true)
    }

    private static let damages = [
        #"{"tags":{}}"#, #"{"version":2,"tags":{"1":{"changed_s":1}}}"#, #"{"version":1,"tags":{"1":{}}}"#,
        #"{"version":1,"tags":{"a/b":{"changed_s":1}}}"#, #"{"version":1,"tags":[]}"#, "7",
    ]

    @Test("what no release has written is not restored", arguments: damages)
    func damaged(text: String) {
        #expect(History(stored: JSONValue(parsing: Array(text.utf8))).count == 0)
    }

    @Test(
        "a row of another length or with other numbers is unknown",
        arguments: [
            "1 1*287", "1 1*289", "1 1*-1 1*289", "1 1*9223372036854775807", "1 300*288", "1 1*144*2", "1 *288",
            "1 x*288",
            "1 1*288 1", "x 1*288", "1*288", "",
        ])
    func damagedRow(runs: String) {
        let text = #"{"version":1,"tags":{"1":{"changed_s":300,"battery":{"day":"\#(runs)"}}}}"#
        let history = History(stored: JSONValue(parsing: Array(text.utf8)))
        #expect(history.count == 1)
        #expect(history.document(of: "1", at: 300)["battery"]?.elements?.allSatisfy { $0 == .null } == true)
    }

    @Test("survives a wall clock that is set back, and begins again after one that was a week ahead")
    func clock() {
        var history = History()
        history.received("tag/1/gesture", Array("{}".utf8), at: 1_000_000)
        history.received("tag/1/gesture", Array("{}".utf8), at: 990_000)
        #expect(history.document(of: "1", at: 1_000_000)["gestures"]?.elements?.last == 2)
        history.received("tag/1/gesture", Array("{}".utf8), at: 0)
        #expect(history.document(of: "1", at: 0)["gestures"]?.elements?.last == 1)
    }
}

extension TopicMirror {
    /// All facts in the order of their topics.
    fileprivate var all: [MirroredMessage] {
        var all: [MirroredMessage] = []
        while true {
            let part = facts(after: all.last?.topic)
            if part.isEmpty { return all }
            all += part
        }
    }
}

@Suite("One-time keys")
struct OneTimeKeysTests {
    @Test("work once")
    func once() throws {
        let folder = try ScratchFolder()
        let keys = OneTimeKeys(folder: folder.path + "/web")
        #expect(keys.address == nil)
        #expect(keys.prepare(address: "http://127.0.0.1:8377/"))
        #expect(keys.address == "http://127.0.0.1:8377/")
        let key = Secrets.random()
        #expect(key.utf8.count == 64)
        #expect(keys.store(key))
        #expect(!keys.use("x"))
        #expect(!keys.use(""))
        #expect(keys.use(key))
        #expect(!keys.use(key))
        keys.remove()
        #expect(keys.address == nil)
    }

    @Test("a new one replaces the last one")
    func replacement() throws {
        let folder = try ScratchFolder()
        let keys = OneTimeKeys(folder: folder.path)
        let first = Secrets.random(), second = Secrets.random()
        #expect(keys.store(first) && keys.store(second))
        #expect(!keys.use(first))
        #expect(keys.use(second))
    }

    @Test("are in the folder of the option, the service, root or the user")
    func folder() {
        let environment = ["RUNTIME_DIRECTORY": "/run/a:/run/b", "XDG_RUNTIME_DIR": "/run/user/1"]
        #expect(OneTimeKeys.folder(option: "/x", environment: environment, isRoot: true) == "/x")
        #expect(OneTimeKeys.folder(option: nil, environment: environment, isRoot: false) == "/run/a")
        #expect(OneTimeKeys.folder(option: nil, environment: [:], isRoot: true) == "/run/jacquard2mqtt-web")
        #expect(
            OneTimeKeys.folder(option: nil, environment: ["XDG_RUNTIME_DIR": "/run/user/1"], isRoot: false)
                == "/run/user/1/jacquard2mqtt-web")
        #expect(OneTimeKeys.folder(option: nil, environment: [:], isRoot: false) == nil)
    }
}

@Suite("Commands of the page's program")
struct WebCommandsTests {
    private func action(_ arguments: String...) throws -> (any CommandAction)? {
        guard case .command(let action) = try WebProgram.table.parse(arguments) else { return nil }
        return action
    }

    @Test("are run, open and password")
    func parsing() throws {
        #expect(try action("open", "--runtime", "/x") as? OpenCommand == OpenCommand(runtime: "/x"))
        #expect(try action("open", "--web", "w.yaml") as? OpenCommand == OpenCommand(web: "w.yaml"))
        #expect(try action("password") is PasswordCommand)
        #expect(
            try action("run", "--web", "w", "--config", "c") as? ServeCommand == ServeCommand(config: "c", web: "w"))
    }

    @Test("have help within 80 columns", arguments: [nil, "run", "open", "password"])
    func help(topic: String?) {
        let lines = WebProgram.table.help(for: topic).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines.filter { $0.count > 80 })")
    }
}
