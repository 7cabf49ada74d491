import Bridge
import EventLoop
import FoundationEssentials
import JacquardProtocol
import Logging
import TestSupport
import Testing

@testable import Configuration
@testable import Daemon

@Suite("Event recorder")
struct EventRecorderTests {
    private static func settings(hours: Int = 24) -> Settings {
        var settings = Settings(instance: "attic", mqtt: Settings.MQTT(clientID: "jacquard-attic"))
        settings.record.hours = hours
        return settings
    }

    private static func gesture(_ number: Int, of tag: String = "003R") -> Publication {
        Publication(
            topic: "jacquard/tag/\(tag)/gesture", payload: Array(#"{"bridge":"attic","seq":\#(number)}"#.utf8),
            kind: .event(lifetime: .seconds(5)))
    }

    @LoopActor
    private static func start(
        _ scratch: ScratchFolder, hours: Int = 24, delay: Duration = .milliseconds(5), sink: MemorySink = MemorySink()
    ) async -> EventRecorder? {
        let folder = StateFolder(option: scratch.path, environment: [:])
        return await EventRecorder.start(
            settings(hours: hours), folder, delay: delay, log: Logger("state", to: sink))
    }

    private static func blocks(_ scratch: ScratchFolder) -> EventBlocks {
        let data = try? Data(contentsOf: URL(filePath: scratch.path + "/events.ring"))
        return EventBlocks(data.map { Array($0) } ?? [])
    }

    private static func events(_ scratch: ScratchFolder) -> [EventReplay.Message] {
        EventReplay(blocks(scratch).blocks, tags: RecordedTags()).events
    }

    @Test("is off without hours, and leaves no file")
    func off() async throws {
        let scratch = try ScratchFolder()
        try await onLoop { #expect(await Self.start(scratch, hours: 0) == nil) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
    }

    @Test("continues after a restart, with the same names")
    func restart() async throws {
        let scratch = try ScratchFolder()
        for run in 0..<3 {
            try await onLoop {
                let recorder = try #require(await Self.start(scratch))
                for number in 0..<40 { recorder.record(Self.gesture(40 * run + number), at: .now) }
                await recorder.finish(within: .seconds(60))
            }
        }
        let events = Self.events(scratch)
        #expect(Set(events.map(\.topic)) == ["tag/tag-1/gesture"])
        let expected = (0..<120).map { Array(#"{"bridge":"attic","seq":\#($0)}"#.utf8) }
        #expect(events.map(\.payload) == expected)
        for name in ["/events.ring", "/events.tags.json"] {
            let mode = try FileManager.default.attributesOfItem(atPath: scratch.path + name)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }

    @Test("writes by itself, soon after an event")
    func delay() async throws {
        let scratch = try ScratchFolder()
        try await onLoop {
            let recorder = try #require(await Self.start(scratch))
            recorder.record(Self.gesture(1), at: .now)
            try await until("the event is in the file") { Self.events(scratch).count == 1 }
            for number in 2...200 { recorder.record(Self.gesture(number), at: .now) }
            try await until("all are in the file") { Self.events(scratch).count == 200 }
        }
    }

    @Test("writes a batch of 64 KiB without delay")
    func batch() async throws {
        let (scratch, other) = (try ScratchFolder(), try ScratchFolder())
        try await onLoop {
            let recorder = try #require(await Self.start(scratch, delay: .seconds(3_600)))
            let prompt = try #require(await Self.start(other))
            // Of at least 200 bytes each.
            for number in 0..<200 { recorder.record(Self.gesture(number), at: .now) }
            // Written after what the first one would have written at once.
            prompt.record(Self.gesture(0), at: .now)
            try await until("the other file") { Self.events(other).count == 1 }
            #expect(Self.events(scratch).isEmpty)
            for number in 200..<400 { recorder.record(Self.gesture(number), at: .now) }
            try await until("all are in the file") { Self.events(scratch).count == 400 }
        }
    }

    @Test("never exceeds 4 MiB, and keeps the latest events")
    func bound() async throws {
        let scratch = try ScratchFolder()
        let padding = String(repeating: "x", count: 3_700)
        try await onLoop {
            let recorder = try #require(await Self.start(scratch))
            for number in 0..<1_100 {
                recorder.record(
                    Publication(
                        topic: "jacquard/tag/003R/gesture", payload: Array("\(number) \(padding)".utf8),
                        kind: .event(lifetime: .seconds(5))), at: .now)
                if number % 10 == 0 { await recorder.finish(within: .seconds(60)) }
            }
            await recorder.finish(within: .seconds(60))
        }
        let size = try FileManager.default.attributesOfItem(atPath: scratch.path + "/events.ring")[.size] as? Int
        #expect(size == EventBlock.fileSize)
        let events = Self.events(scratch)
        #expect(events.count == EventBlock.count)
        #expect(events.last.map { String(decoding: $0.payload.prefix(4), as: UTF8.self) } == "1099")
    }

    @Test("keeps no events that are older than the hours")
    func retention() async throws {
        let scratch = try ScratchFolder()
        try await onLoop {
            let recorder = try #require(await Self.start(scratch, hours: 2))
            for (number, hours) in [(1, 3), (2, 1), (3, 0)] as [(Int, Int64)] {
                var time = Timestamp.now
                time.unixMilliseconds -= hours * 3_600_000
                recorder.record(Self.gesture(number), at: time)
                await recorder.finish(within: .seconds(60))
            }
        }
        let expected = [2, 3].map { Array(#"{"bridge":"attic","seq":\#($0)}"#.utf8) }
        #expect(Self.events(scratch).map(\.payload) == expected)
        try await onLoop {
            let recorder = try #require(await Self.start(scratch, hours: 1))
            recorder.record(Self.gesture(3), at: .now)
            await recorder.finish(within: .seconds(60))
        }
        #expect(Self.events(scratch).map(\.payload) == [expected[1], expected[1]])
        #expect(Self.blocks(scratch).damaged == 0)
    }

    @Test("sets a file of another program aside", arguments: ["events.ring", "events.tags.json"])
    func foreign(name: String) async throws {
        let scratch = try ScratchFolder()
        _ = try scratch.write(name, "SQLite format 3")
        let sink = MemorySink()
        try await onLoop {
            let recorder = try #require(await Self.start(scratch, sink: sink))
            recorder.record(Self.gesture(1), at: .now)
            await recorder.finish(within: .seconds(60))
        }
        #expect(Self.events(scratch).count == 1)
        #expect(try String(contentsOfFile: scratch.path + "/\(name).damaged", encoding: .utf8) == "SQLite format 3")
        #expect(sink.records.count == 1)
    }

    @Test("reads what is left of a file that was cut off")
    func truncated() async throws {
        let scratch = try ScratchFolder()
        try await onLoop {
            let recorder = try #require(await Self.start(scratch))
            for number in 0..<300 { recorder.record(Self.gesture(number), at: .now) }
            await recorder.finish(within: .seconds(60))
        }
        let all = Self.events(scratch).count
        let file = scratch.path + "/events.ring"
        let bytes = try Data(contentsOf: URL(filePath: file))
        try bytes.prefix(bytes.count - 100).write(to: URL(filePath: file))
        let left = Self.events(scratch).count
        #expect(all == 300 && left > 100 && left < 300)
        try await onLoop {
            let sink = MemorySink()
            let recorder = try #require(await Self.start(scratch, sink: sink))
            #expect(sink.records.map(\.message) == ["damaged blocks of events are left out"])
            recorder.record(Self.gesture(300), at: .now)
            await recorder.finish(within: .seconds(60))
        }
        #expect(Self.events(scratch).count == left + 1)
    }

    @Test("logs once that it cannot write, and goes on when it can")
    func unwritable() async throws {
        let scratch = try ScratchFolder()
        let sink = MemorySink()
        try await onLoop {
            let recorder = try #require(await Self.start(scratch, sink: sink))
            try FileManager.default.createDirectory(
                atPath: scratch.path + "/events.ring", withIntermediateDirectories: false)
            for number in 0..<3 {
                recorder.record(Self.gesture(number), at: .now)
                await recorder.finish(within: .seconds(60))
            }
            #expect(sink.records.map(\.message) == ["cannot record events"])
            try FileManager.default.removeItem(atPath: scratch.path + "/events.ring")
            recorder.record(Self.gesture(3), at: .now)
            await recorder.finish(within: .seconds(60))
        }
        #expect(sink.records.map(\.message) == ["cannot record events", "events are recorded again"])
        #expect(Self.events(scratch).count == 4)
    }

    @Test("sets a file aside that is larger than the ring")
    func tooLarge() async throws {
        let scratch = try ScratchFolder()
        try Data(count: EventBlock.fileSize + 1).write(to: URL(filePath: scratch.path + "/events.ring"))
        let sink = MemorySink()
        try await onLoop { _ = try #require(await Self.start(scratch, sink: sink)) }
        #expect(FileManager.default.fileExists(atPath: scratch.path + "/events.ring.damaged"))
        #expect(sink.records.count == 1)
    }

    @Test("records nothing where the file is a link", arguments: ["events.ring", "events.tags.json"])
    func link(name: String) async throws {
        let scratch = try ScratchFolder()
        let target = try scratch.write("target", "other")
        try FileManager.default.createSymbolicLink(atPath: scratch.path + "/\(name)", withDestinationPath: target)
        let sink = MemorySink()
        try await onLoop { #expect(await Self.start(scratch, sink: sink) == nil) }
        #expect(sink.records.count == 1)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "other")
    }

    @Test("drops events above its bound while the file is not written, logs their number, and continues")
    func flood() async throws {
        let scratch = try ScratchFolder()
        let sink = MemorySink()
        try await onLoop {
            let recorder = try #require(await Self.start(scratch, sink: sink))
            // In one turn of the loop, in which nothing can be written.
            for number in 0..<5_000 { recorder.record(Self.gesture(number), at: .now) }
            await recorder.finish(within: .seconds(60))
            let kept = Self.events(scratch).count
            #expect(kept > 1_000 && kept < 1_500, "\(kept)")
            for number in 1...2 {
                recorder.record(Self.gesture(5_000 + number), at: .now)
                await recorder.finish(within: .seconds(60))
                #expect(Self.events(scratch).count == kept + number)
                #expect(sink.records.map(\.message) == ["events were not recorded"])
                #expect(sink.records.first?.metadata.map(\.value).contains("\(5_000 - kept)") == true)
            }
        }
    }

    @Test("ignores repetitions, corrections and streams")
    func kinds() async throws {
        let scratch = try ScratchFolder()
        try await onLoop {
            let recorder = try #require(await Self.start(scratch))
            for kind in [.reminder, .correction(lifetime: .seconds(5)), .stream] as [Publication.Kind] {
                recorder.record(
                    Publication(topic: "jacquard/tag/003R/gear", payload: [0x31], kind: kind), at: .now)
            }
            await recorder.finish(within: .seconds(60))
        }
        #expect(Self.events(scratch).isEmpty)
    }

    @Test("removes a forgotten tag from the table of tags")
    func forgotten() async throws {
        let scratch = try ScratchFolder()
        let names = scratch.path + "/events.tags.json"
        try await onLoop {
            let recorder = try #require(await Self.start(scratch))
            recorder.record(Self.gesture(1), at: .now)
            await recorder.finish(within: .seconds(60))
            #expect(try String(contentsOfFile: names, encoding: .utf8).contains("003R"))
            recorder.forget("003R")
            await recorder.finish(within: .seconds(60))
            #expect(try !String(contentsOfFile: names, encoding: .utf8).contains("003R"))
        }
    }
}
