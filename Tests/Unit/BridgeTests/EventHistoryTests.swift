import Foundation
import JSON
import JacquardProtocol
import Testing

@testable import Bridge

/// A moment in 2026, in milliseconds since 1970.
private let time: Int64 = 1_795_169_702_114
private let hour: Int64 = 3_600_000

private func fact(_ level: String, _ payload: String, of tag: String = "003R") -> Publication {
    .fact("jacquard/tag/\(tag)/" + level, word: payload)
}

private func gesture(_ number: Int, of tag: String = "003R", padding: Int = 0) -> Publication {
    let padding = String(repeating: "x", count: padding)
    return Publication(
        topic: "jacquard/tag/\(tag)/gesture", payload: Array(#"{"bridge":"attic\#(padding)","seq":\#(number)}"#.utf8),
        kind: .event(lifetime: .seconds(5)))
}

private func text(_ blocks: [EventBlock]) -> String {
    blocks.map { String(decoding: $0.body, as: UTF8.self) }.joined()
}

extension EventHistory {
    /// Records publications of one time.
    fileprivate mutating func add(_ publications: [Publication], at time: Int64 = time) {
        add(publications.map { .published($0, at: time) }, at: time)
    }

    /// Returns what is to be written, as if it were written.
    fileprivate mutating func write(into file: inout [UInt8]) {
        let changes = changes
        for block in changes.blocks {
            file.replaceSubrange(block.offset..<(block.offset + EventBlock.size), with: block.bytes)
        }
        for offset in changes.erased {
            file.replaceSubrange(
                offset..<(offset + EventBlock.size), with: repeatElement(0, count: EventBlock.size))
        }
        written()
    }
}

@Suite("Event history")
struct EventHistoryTests {
    @Test("has a line for each event of a tag, and for nothing else")
    func lines() {
        var history = EventHistory(base: "jacquard", hours: 24)
        #expect(history.blockSpan == .seconds(3_600))
        history.add([
            gesture(1), fact("battery", #"{"level":87}"#), fact("battery/level", "87"),
            fact("gear", #"{"attached":false}"#), fact("connection", #"{"state":"connected"}"#),
            fact("availability", "online"), fact("touch_mode", "gesture"), fact("led", #"{"state":"ON"}"#),
            fact("led/result", "{}"), fact("reflex/result", "{}"),
            // Not recorded.
            fact("touch", "{}"), fact("info", #"{"serial":"003R"}"#), fact("name/result", "{}"),
            fact("config/result", "{}"), fact("info/result", "{}"), fact("stats", "{}"), fact("rssi", "-60"),
            fact("gear", ""), .fact("jacquard/bridge/attic/state", word: "online"),
            .fact("other/tag/003R/gear", word: "x"),
            .fact("jacquard/tag/003R", word: "x"),
        ])
        #expect(
            text(history.changes.blocks) == """
                1795169702114 tag-1 gesture {"bridge":"attic","seq":1}
                1795169702114 tag-1 battery {"level":87}
                1795169702114 tag-1 battery/level 87
                1795169702114 tag-1 gear {"attached":false}
                1795169702114 tag-1 connection {"state":"connected"}
                1795169702114 tag-1 availability online
                1795169702114 tag-1 touch_mode gesture
                1795169702114 tag-1 led {"state":"ON"}
                1795169702114 tag-1 led/result {}
                1795169702114 tag-1 reflex/result {}

                """)
        #expect(history.lost == 0)
    }

    @Test("records what the article \"Replay\" says", arguments: RecordedEvent.Kind.all.map(\.name))
    func article(name: String) throws {
        let path = "../../../Sources/Programs/Daemon/Documentation.docc/Replay.md"
        let text = try String(contentsOf: URL(filePath: path, relativeTo: URL(filePath: #filePath)), encoding: .utf8)
        let recorded = text.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
            .compactMap { $0.components(separatedBy: " | ").first }.joined()
        guard name != "reflex/result" else { return #expect(recorded.contains("reflexes")) }
        #expect(recorded.contains("`\(name.replacing("/result", with: ""))`"), "\(name)")
    }

    @Test("records every topic of a tag, or leaves it out for a reason")
    func topics() {
        let recorded = Set(RecordedEvent.Kind.all.filter(\.isFact).map(\.name))
        let facts = Set(TagTopicTable.rows.filter(\.isFact).map(\.name))
        let ofFeatures = Features.topics.filter { $0.isFact && !$0.isRecorded }.map(\.name)
        #expect(facts.subtracting(recorded) == Set(["info", "stats", "rssi", "modules", "radios"] + ofFeatures))
        #expect(recorded.isSubset(of: facts))
        let results = Set(RecordedEvent.Kind.all.map(\.name).filter { $0.hasSuffix("/result") })
        let commands = TagRequestTable.rows.map { row in
            row.name.split(separator: "/").first.map { "\($0)/result" } ?? ""
        }
        let commandsOfFeatures = Features.commands.filter { !$0.isResultRecorded }.compactMap { row in
            row.name.split(separator: "/").first.map { "\($0)/result" }
        }
        #expect(
            Set(commands).subtracting(results)
                == Set(
                    ["info/result", "name/result", "config/result", "rssi/result", "modules/result"]
                        + commandsOfFeatures))
    }

    @Test("leaves out a fact that has not changed, and keeps equal gestures")
    func repeated() {
        var history = EventHistory(base: "jacquard", hours: 24)
        history.add(["87", "87", "86", "87"].map { fact("battery/level", $0) } + [gesture(1), gesture(1)])
        #expect(history.changes.blocks.flatMap(\.events).count == 5)
        // Also after a restart.
        var next = EventHistory(
            base: "jacquard", hours: 24, blocks: history.changes.blocks, tags: history.changes.tags ?? .init())
        next.add([fact("battery/level", "87")])
        #expect(next.changes.isEmpty)
    }

    @Test("continues a block after a restart")
    func restart() throws {
        var history = EventHistory(base: "jacquard", hours: 24)
        history.add([gesture(1)])
        let changes = history.changes
        var next = EventHistory(base: "jacquard", hours: 24, blocks: changes.blocks, tags: try #require(changes.tags))
        next.add([gesture(2, of: "0002"), gesture(2)])
        #expect(next.changes.blocks.map(\.sequence) == [1])
        #expect(next.changes.blocks[0].events.map(\.subject.tag) == [1, 2, 1])
    }

    @Test("gives no name of the file to another tag, also without the table of tags")
    func lostTable() {
        var history = EventHistory(base: "jacquard", hours: 24)
        history.add([gesture(1, of: "0001"), gesture(1, of: "0002")])
        var next = EventHistory(base: "jacquard", hours: 24, blocks: history.changes.blocks)
        next.add([gesture(2, of: "0002")])
        #expect(next.changes.blocks[0].events.map(\.subject.tag) == [1, 2, 3])
    }

    @Test("removes a forgotten tag from the table, and gives its name to no other")
    func forgotten() throws {
        var history = EventHistory(base: "jacquard", hours: 24)
        history.add([fact("gear", "a")])
        history.written()
        history.add([.forgotten("003R"), .published(fact("gear", "a"), at: time)], at: time)
        #expect(history.changes.blocks[0].events.map(\.subject.tag) == [1, 2])
        let table = String(decoding: try #require(history.changes.tags).bytes, as: UTF8.self)
        #expect(table.contains("tag-2") && !table.contains("tag-1"))
    }

    @Test("drops events that are too long and those above its bound, and counts them")
    func bounds() {
        var history = EventHistory(base: "jacquard", hours: 24)
        history.add([fact("gear", String(repeating: "x", count: RecordedEvent.maxPayload + 1)), fact("gear", "\n")])
        #expect(history.lost == 2)
        history.add((0..<5_000).map { gesture($0) })
        #expect(history.changes.blocks.count == EventHistory.maxWaiting + 1)
        let kept = history.changes.blocks.flatMap(\.events).count
        #expect(kept + history.lost == 5_002)
        // What was not written is written later, and there is room again.
        history.written()
        history.add([gesture(1)])
        #expect(history.changes.blocks.count == 1)
    }

    @Test("has the latest value of each fact although the file is a ring")
    func overwritten() {
        var history = EventHistory(base: "jacquard", hours: 168)
        var file = [UInt8](repeating: 0, count: EventBlock.fileSize)
        let facts = (0..<200).map { fact("gear", "gear \($0) \(String(repeating: "g", count: 80))", of: "\($0)") }
        history.add(facts)
        history.write(into: &file)
        for number in 0..<2_500 {
            history.add([gesture(number, padding: 3_500)])
            if number % 4 == 0 { history.write(into: &file) }
        }
        history.write(into: &file)
        let read = EventBlocks(file)
        #expect(read.blocks.count == EventBlock.count && read.damaged == 0)
        let replay = EventReplay(read.blocks, tags: RecordedTags())
        #expect(replay.facts.map(\.payload) == facts.map(\.payload))
        #expect(replay.events.count > 800)
        #expect(replay.events.allSatisfy { !$0.isRetained })
    }

    @Test("erases events that are older than its hours, and keeps the facts")
    func expired() {
        var history = EventHistory(base: "jacquard", hours: 24)
        var file = [UInt8](repeating: 0, count: EventBlock.fileSize)
        history.add([fact("gear", "jacket"), fact("availability", "online"), gesture(1)])
        history.write(into: &file)
        history.add([gesture(2)], at: time + 20 * hour)
        history.write(into: &file)
        #expect(EventReplay(EventBlocks(file).blocks, tags: .init()).events.count == 4)
        history.add([Publication](), at: time + 24 * hour + 1)
        #expect(history.changes.erased.count == 1)
        history.write(into: &file)
        let replay = EventReplay(EventBlocks(file).blocks, tags: .init())
        #expect(replay.facts.map { String(decoding: $0.payload, as: UTF8.self) } == ["online", "jacket"])
        #expect(replay.events.map { String(decoding: $0.payload, as: UTF8.self) } == [#"{"bridge":"attic","seq":2}"#])
        // The facts stay without further events.
        for day in 2...40 {
            history.add([Publication](), at: time + Int64(day) * 24 * hour)
            history.write(into: &file)
        }
        let blocks = EventBlocks(file).blocks
        #expect(blocks.count <= 2)
        #expect(EventReplay(blocks, tags: .init()).facts.count == 2)
    }

    @Test("keeps the facts of many tags that become too old at once, for which one write has no room")
    func manyFacts() {
        var file = [UInt8](repeating: 0, count: EventBlock.fileSize)
        var history = EventHistory(base: "jacquard", hours: 1)
        let tags = (0..<200).map { "T\($0)" }
        for tag in tags {
            let gear = #"{"attached":true,"product":"\#(tag)\#(String(repeating: "x", count: 900))"}"#
            history.add([fact("gear", gear, of: tag)])
            history.write(into: &file)
        }
        for minute in 61...90 {
            history.add([Publication](), at: time + Int64(minute) * 60_000)
            history.write(into: &file)
        }
        let blocks = EventBlocks(file).blocks, kept = EventReplay(blocks, tags: .init()).facts
        #expect(kept.count == tags.count && history.lost == 0)
        // They are in new blocks: the old ones are erased.
        #expect(blocks.allSatisfy { ($0.firstTime ?? 0) >= time + hour })
    }

    @Test("goes on when the clock was wrong", arguments: [-1, 0, 1_000, 179_516_970_211_400, Int64.max] as [Int64])
    func clock(wrong: Int64) {
        var history = EventHistory(base: "jacquard", hours: 1)
        history.add([gesture(1)], at: wrong)
        history.add([gesture(2)], at: time)
        #expect(history.changes.blocks.flatMap(\.events).count >= 1)
        #expect(history.lost == 0)
    }
}

@Suite("Blocks of the event history")
struct EventBlockTests {
    private static func block(_ sequence: UInt64, _ count: Int = 3) throws -> EventBlock {
        var block = EventBlock(sequence: sequence)
        let gear = try #require(RecordedEvent.Kind("gear"))
        for number in 0..<count {
            let event = RecordedEvent(
                unixMilliseconds: 1_000 + Int64(number), subject: .init(tag: 7, kind: gear),
                payload: Array("{\(number)}".utf8))
            let fits = block.append(try #require(event))
            #expect(fits)
        }
        return block
    }

    @Test("have a heading, lines and zeros")
    func bytes() throws {
        let bytes = try Self.block(5, 1).bytes
        #expect(bytes.count == 4_096)
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        let pattern = #/jacquard2mqtt events 1 0{19}5 \d{20} 0020\n1000 tag-7 gear \{0\}\n/#
        #expect(text.wholeMatch(of: pattern) != nil, "\(text)")
    }

    @Test("are read as they were written, in the order of their numbers")
    func ring() throws {
        let blocks = try (1_020...1_030).map { try Self.block($0) }
        var file = [UInt8](repeating: 0, count: EventBlock.fileSize)
        for block in blocks { file.replaceSubrange(block.offset..<(block.offset + EventBlock.size), with: block.bytes) }
        let read = EventBlocks(file)
        #expect(read.blocks == blocks && read.damaged == 0)
        #expect(blocks[0].lastTime == 1_002 && blocks[0].firstTime == 1_000)
    }

    @Test("are left out when they are damaged, cut off, or of another program")
    func damaged() throws {
        let bytes = try Self.block(0).bytes
        #expect(EventBlocks(bytes).blocks.count == 1)
        for index in bytes.indices where index < 150 || index > 4_090 {
            var changed = bytes
            changed[index] ^= 1
            #expect(EventBlocks(changed).blocks.isEmpty && EventBlocks(changed).damaged == 1, "byte \(index)")
        }
        for count in stride(from: 1, to: bytes.count, by: 97) {
            #expect(EventBlocks(Array(bytes.prefix(count))).blocks.isEmpty)
        }
        #expect(EventBlocks(bytes + bytes).damaged == 1, "a block at the position of another one")
        #expect(EventBlocks(Array("SQLite format 3".utf8)).damaged == 1)
        #expect(EventBlocks([]).damaged == 0)
    }

    @Test(
        "have no events in lines of another form",
        arguments: [
            "", "x", "1 tag-1 gear", "-1 tag-1 gear {}", "1 tag-0 gear {}", "1 tag-9223372036854775807 gear {}",
            "1 tag-01 gear {}", "1 003R gear {}",
            "1 tag-1 touch {}", "1 tag-1 gear ", "1 tag-1 gear \u{7}", "9223372036854775808 tag-1 gear {}",
            "1 tag-1 =gesture {}",
        ])
    func foreignLines(line: String) {
        #expect(RecordedEvent(line: Array(line.utf8)[...]) == nil)
    }
}

@Suite("Recorded tags")
struct RecordedTagsTests {
    private static func tags(_ ids: TagID...) -> RecordedTags {
        var tags = RecordedTags()
        ids.forEach { _ = tags.number(of: $0) }
        return tags
    }

    @Test(
        "conceal their ids in the values of a document, and nowhere else",
        arguments: [
            (#"{"text":"Tag 003R is not connected"}"#, #"{"text":"Tag [tag-1] is not connected"}"#),
            (#"{"hint":"jacquard/tag/003R/gear lists"}"#, #"{"hint":"jacquard/tag/[tag-1]/gear lists"}"#),
            (#"{"id":"003R","by":"0001"}"#, #"{"id":"[tag-1]","by":"[tag-2]"}"#),
            (#"{"a":"x\"003R\\"}"#, #"{"a":"x\"[tag-1]\\"}"#),
            (#"{"a":"\n003R\u001f003R"}"#, #"{"a":"\n[tag-1]\u001f[tag-1]"}"#),
            ("{\"a\":\"\u{e9}003R 003R\"}", "{\"a\":\"\u{e9}003R [tag-1]\"}"),
            (#"{"003R":1}"#, #"{"003R":1}"#), (#"{"seq":0001,"n":1003}"#, #"{"seq":0001,"n":1003}"#),
            (#"{"a":"10003R 003RX x003R 003R-1"}"#, #"{"a":"10003R 003RX x003R 003R-1"}"#), ("0001", "0001"),
            (#"{"a":"unfinished 003R"#, #"{"a":"unfinished [tag-1]"#), (#"{"a":"\"#, #"{"a":"\"#), ("", ""),
        ])
    func concealing(payload: String, concealed: String) {
        let tags = Self.tags("003R", "0001")
        let expected = concealed.replacing(#/\[(tag-\d)\]/#) { "\u{1}\($0.1)\u{1}" }
        let result = tags.concealed(Array(payload.utf8))
        #expect(String(decoding: result, as: UTF8.self) == expected)
        #expect(tags.revealed(result) == Array(payload.utf8))
        let names = concealed.replacing(#/\[(tag-\d)\]/#) { "\($0.1)" }
        #expect(RecordedTags().revealed(result) == Array(names.utf8))
    }

    @Test("are read as they were written")
    func table() throws {
        let tags = Self.tags("003R", "left sleeve", "0001")
        let document = try #require(JSONValue(parsing: tags.bytes))
        #expect(document["tags"]?.elements?[1] == ["id": "left sleeve", "name": "tag-2"])
        #expect(RecordedTags(parsing: tags.bytes) == tags)
    }

    @Test(
        "are not read from another format",
        arguments: [
            "[]", #"{"version":2,"tags":[]}"#, #"{"version":1}"#, #"{"version":1,"tags":[{"id":"a"}]}"#,
            #"{"version":1,"tags":[{"id":"a","name":"x"}]}"#, #"{"version":1,"tags":[{"id":"a/b","name":"tag-1"}]}"#,
            #"{"version":1,"tags":[{"id":"a","name":"tag-1"},{"id":"b","name":"tag-1"}]}"#,
            #"{"version":1,"tags":[{"id":"a","name":"tag-1"},{"id":"a","name":"tag-2"}]}"#,
        ])
    func foreign(text: String) throws {
        #expect(RecordedTags(parsing: Array(text.utf8)) == nil)
    }
}

@Suite("Replay of events")
struct EventReplayTests {
    private static func history() -> EventHistory {
        var history = EventHistory(base: "jacquard", hours: 24)
        history.add([fact("gear", "jacket"), fact("battery/level", "90")], at: time)
        history.add([gesture(1)], at: time + 1_000)
        history.add([fact("battery/level", "89")], at: time + 2_000)
        history.add([gesture(2)], at: time + 3_000)
        return history
    }

    private static func replay(_ history: EventHistory, from start: Int64? = nil, until end: Int64? = nil)
        -> EventReplay
    {
        EventReplay(history.changes.blocks, tags: history.changes.tags ?? .init(), from: start, until: end)
    }

    @Test("has topics without the base, the payloads, times and retain flags as they were published")
    func everything() {
        let replay = Self.replay(Self.history())
        #expect(replay.facts == [])
        #expect(
            replay.events.map(\.topic) == [
                "tag/003R/gear", "tag/003R/battery/level", "tag/003R/gesture", "tag/003R/battery/level",
                "tag/003R/gesture",
            ])
        #expect(replay.events.map(\.isRetained) == [true, true, false, true, false])
        #expect(replay.events.map { $0.unixMilliseconds - time } == [0, 0, 1_000, 2_000, 3_000])
        #expect(replay.events[2].payload == gesture(1).payload)
    }

    @Test("of a part begins with the facts of that time")
    func part() {
        let replay = Self.replay(Self.history(), from: time + 2_001, until: time + 3_000)
        #expect(replay.facts.map { String(decoding: $0.payload, as: UTF8.self) } == ["89", "jacket"])
        #expect(replay.events.map(\.unixMilliseconds) == [time + 3_000])
        #expect(Self.replay(Self.history(), until: time + 2_999).events.count == 4)
    }

    @Test("without the table of tags has the names of the file")
    func names() {
        let replay = EventReplay(Self.history().changes.blocks, tags: .init())
        #expect(replay.events[0].topic == "tag/tag-1/gear")
    }
}
