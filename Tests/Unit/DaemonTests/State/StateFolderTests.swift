import Bridge
import EventLoop
import FoundationEssentials
import Glibc
import JSON
import JacquardProtocol
import Logging
import TestSupport
import Testing

@testable import Configuration
@testable import Daemon

extension StoredTag {
    static func sample(_ id: String, held: Bool = false) -> StoredTag {
        // Another address for each id, as long as those of a test have different last letters.
        let place = "0" + String(id.utf8.last ?? 0, radix: 16, uppercase: true)
        return StoredTag(
            serial: "003R", id: TagID(stringLiteral: id), address: "F0:00:00:00:00:\(place.suffix(2))",
            name: "Jacquard-003R",
            held: held, paired: true,
            lastGear: nil)
    }
}

@Suite("State folder")
struct StateFolderTests {
    private static let longSerial = String(repeating: "3", count: 65)

    private func folder(_ scratch: ScratchFolder) -> StateFolder {
        StateFolder(option: scratch.path, environment: [:])
    }

    @Test("has the records of the bridge, with and without what may be missing")
    func records() {
        var record = TagRecord(id: "a", serial: "003R", history: BatteryHistory())
        #expect(StoredTag(record, isPaired: true).record == record)
        record.lastGear = .init(vendorID: "74-a8-ce-54", productID: "8a-66-50-f4", name: "Jacket")
        record.battery = .init(level: 42, isCharging: true, unixMilliseconds: 7)
        record.presence = .init(state: "here", unixMilliseconds: 8)
        record.light = .init(red: 1, green: 2, blue: 3, brightness: 4, effect: "breathe", endUnixMilliseconds: 9)
        (record.isHeld, record.hasRadios) = (true, true)
        record.features = Dictionary(uniqueKeysWithValues: FeatureTable.storedKeys.map { ($0, true) })
        #expect(StoredTag(record, isPaired: true).record == record)
    }

    @Test("is set by the option, the service manager, or an installed bridge")
    func choice() {
        let environment = ["STATE_DIRECTORY": "/var/lib/a:/var/lib/b"]
        #expect(StateFolder(option: "/x", environment: environment).path == "/x")
        #expect(StateFolder(option: nil, environment: environment).path == "/var/lib/a")
        #expect(StateFolder(option: nil, environment: [:]).path == "/var/lib/jacquard2mqtt")
    }

    @Test("holds no tag before the first was saved, and then those that were")
    func roundTrip() throws {
        let scratch = try ScratchFolder()
        #expect(folder(scratch).load() == .tags([]))
        let tags = [StoredTag.sample("a"), .sample("b", held: true)]
        try folder(scratch).save(tags.reversed())
        #expect(folder(scratch).load() == .tags(tags))
    }

    @Test("reads everything that it has written, and writes no file that it could not read")
    func sizes() throws {
        let scratch = try ScratchFolder()
        let state = folder(scratch)
        let many = (10_001...14_000).map { StoredTag.sample("tag-\($0)") }
        try state.save(many)
        #expect(state.load() == .tags(many))
        var long = StoredTag.sample("a")
        long.name = ExactText(String(repeating: "n", count: StateFolder.sizeLimit))
        let tooMany = [long]
        let error = #expect(throws: FileError.self) { try state.save(tooMany) }
        #expect(error?.code == EFBIG)
        #expect(state.load() == .tags(many))
        // Exactly as long as may be read.
        let file = scratch.path + "/tags.json"
        long.name = "n"
        try state.save([long])
        let rest = try FileContents(path: file, limit: StateFolder.sizeLimit).bytes.count - 1
        long.name = ExactText(String(repeating: "n", count: StateFolder.sizeLimit - rest))
        try state.save([long])
        #expect(state.load() == .tags([long]))
    }

    @Test("holds two tags whose ids differ only in their bytes, and every change of a name")
    func exactTexts() async throws {
        let scratch = try ScratchFolder()
        let tags = [StoredTag.sample("e\u{301}"), .sample("\u{E9}", held: true)]
        try folder(scratch).save(tags.reversed())
        #expect(folder(scratch).load() == .tags(tags))
        try await onLoop {
            let store = TagStore(folder(scratch), log: Logger("state", to: MemorySink()))
            await store.load()
            #expect(store.tags.keys.sorted().map(\.id) == ["e\u{301}", "\u{E9}"])
            store.forget(StoredTag.sample("e\u{301}").key)
            var renamed = tags[1]
            renamed.name = "\u{E9}"
            store.remember(renamed)
            await store.finish(within: .seconds(60))
            #expect(folder(scratch).load() == .tags([renamed]))
            renamed.name = "e\u{301}"
            store.remember(renamed)
            await store.finish(within: .seconds(60))
            #expect(folder(scratch).load() == .tags([renamed]))
        }
    }

    @Test("keeps a tag that was paired by command while the configuration gives its id to another one")
    func takenID() async throws {
        let scratch = try ScratchFolder()
        func tag(_ id: String, _ serial: String, _ address: String?, paired: Bool) -> StoredTag {
            StoredTag(
                serial: serial, id: TagID(stringLiteral: id), address: address, held: false, paired: paired)
        }
        let (own, taker) = (tag("0003", "0003", "A", paired: true), tag("0003", "0002", "B", paired: false))
        let (former, unlisted) = (tag("0002", "0002", "B", paired: true), tag("0003", "0001", "C", paired: false))
        try await onLoop {
            let store = TagStore(folder(scratch), log: Logger("state", to: MemorySink()))
            for tag in [own, former, unlisted, taker] { store.remember(tag) }
            await store.finish(within: .seconds(60))
            #expect(folder(scratch).load() == .tags([former, taker, own]), "one that was listed is not kept")
            // Pairing does not make the other one's record its own.
            store.markPaired(taker.key)
            #expect(store.tags[own.key] == own && store.tags[taker.key]?.paired == true)
            #expect(StoredTag.paired(among: store.tags.values) == [former, own])
            store.forget(taker.key)
            #expect(Array(store.tags.values) == [own], "it is forgotten under its former id, too")
        }
    }

    @Test(
        "forgets a tag under each id, but not another tag with its serial",
        arguments: [("A", "A", 0), ("A", nil, 0), (nil, "A", 0), ("A", "B", 1)] as [(String?, String?, Int)])
    func sameSerial(address: String?, other: String?, count: Int) async throws {
        let scratch = try ScratchFolder()
        try await onLoop {
            let store = TagStore(folder(scratch), log: Logger("state", to: MemorySink()))
            for (id, address) in [("sleeve", address), ("0002", other)] {
                store.remember(
                    StoredTag(
                        serial: "0002", id: TagID(stringLiteral: id), address: address, held: false, paired: true))
            }
            store.forget(StoredTag.Key(id: "sleeve", serial: "0002"))
            #expect(store.tags.count == count)
            store.forget(StoredTag.Key(id: "cuff", serial: "0002"))
            #expect(store.tags.isEmpty, "of one without a record, that under its serial")
            await store.finish(within: .seconds(60))
        }
    }

    @Test("logs the first eight of many damaged records, and their number")
    func manyDamagedRecords() async throws {
        let scratch = try ScratchFolder()
        let records = (1...9).map { #"{"serial":"003R","id":"\#($0)","held":7,"paired":true}"# }
        let valid = #"{"serial":"003R","id":"a","held":false,"paired":true}"#
        _ = try scratch.write(
            "tags.json", #"{"version":1,"tags":[\#((records + [valid]).joined(separator: ","))]}"#)
        try await onLoop {
            let sink = MemorySink()
            let store = TagStore(folder(scratch), log: Logger("state", to: sink))
            await store.load()
            await store.finish(within: .seconds(60))
            #expect(store.tags.keys.map(\.id) == ["a"] && !store.isComplete)
            #expect(sink.records.count { $0.message == "a known tag's record is damaged" } == 8)
            #expect(sink.records.last?.line.contains("count=9") == true)
        }
    }

    @Test("reads files of other releases, and valid battery values")
    func otherReleases() throws {
        let scratch = try ScratchFolder()
        let plain = #""serial":"003R","id":"a","held":false,"paired":true"#
        let cases: [(more: String, battery: StoredTag.Battery?)] = [
            ("", nil), (#","tomorrow":[1,{}]"#, nil), (#","battery":null"#, nil), (#","battery":{"level":42}"#, nil),
            (#","battery":{"level":101,"charging":true,"time_ms":7}"#, nil),
            (
                #","battery":{"level":100,"charging":true,"time_ms":7,"volts":3}"#,
                StoredTag.Battery(level: 100, charging: true, time: 7)
            ),
            (
                #","battery":{"level":0,"charging":false,"time_ms":7}"#,
                StoredTag.Battery(level: 0, charging: false, time: 7)
            ),
        ]
        for (more, battery) in cases {
            _ = try scratch.write("tags.json", #"{"version":1,"tags":[{\#(plain)\#(more)}]}"#)
            guard case .tags(let tags) = folder(scratch).load() else {
                Issue.record("\(more) is not read")
                continue
            }
            #expect(tags.map(\.battery) == [battery], "\(more)")
            try folder(scratch).save(tags)
            #expect(folder(scratch).load() == .tags(tags))
        }
    }

    @Test("is created if it is missing")
    func madeOnDemand() throws {
        let scratch = try ScratchFolder()
        let inner = StateFolder(option: scratch.path + "/inner", environment: [:])
        try inner.save([.sample("a")])
        #expect(inner.load() == .tags([.sample("a")]))
        let mode = try FileManager.default.attributesOfItem(atPath: inner.path)[.posixPermissions]
        #expect(mode as? Int == 0o700)
    }

    @Test(
        "sets a damaged file aside, each under its own name",
        arguments: [
            "", "{", "[]", "{\"tags\":[]}", #"{"version":1,"tags":{}}"#, #"{"version":1}"#, "\u{0}\u{1}",
        ])
    func damaged(text: String) throws {
        let scratch = try ScratchFolder()
        for name in ["tags.json.damaged", "tags.json.damaged-1"] {
            _ = try scratch.write("tags.json", text)
            let kept = scratch.path + "/" + name
            #expect(folder(scratch).load() == .damaged(setAside: kept, reason: "it is no list of tags"))
            #expect(try Data(contentsOf: URL(filePath: kept)) == Data(text.utf8))
        }
        #expect(folder(scratch).load() == .tags([]))
    }

    @Test(
        "keeps the valid records beside a damaged one, and the whole file as a copy",
        arguments: [
            ("{}", "number 2", nil, "serial is missing or not a string"),
            ("7", "number 2", nil, "it is not an object"),
            (
                #"{"serial":"\#(Self.longSerial)","held":false,"paired":true}"#, String(Self.longSerial.prefix(64)),
                Self.longSerial, "id is missing or not allowed in a topic"
            ),
            (
                #"{"serial":"003R","id":"a/b","held":false,"paired":true}"#, "003R", "003R",
                "id is missing or not allowed in a topic"
            ),
            (
                #"{"serial":"003R","id":"front","paired":true}"#, "front", "003R",
                "held is missing or neither true nor false"
            ),
            (
                #"{"serial":"003R","id":"front","held":1,"paired":true}"#, "front", "003R",
                "held is missing or neither true nor false"
            ),
            (
                #"{"serial":"003R","id":"front","held":true}"#, "front", "003R",
                "paired is missing or neither true nor false"
            ),
            (
                #"{"serial":"first","id":"first","held":true,"paired":true}"#, "first", "first",
                "its id and its serial are those of another record"
            ),
        ] as [(String, String, String?, String)])
    func partial(text: String, name: String, serial: String?, reason: String) throws {
        let scratch = try ScratchFolder()
        let valid = ["first", "last"].map { #"{"serial":"\#($0)","id":"\#($0)","held":false,"paired":true}"# }
        let file = #"{"version":1,"tags":[\#(valid[0]),\#(text),\#(valid[1])]}"#
        _ = try scratch.write("tags.json", file)
        for copy in ["tags.json.damaged", "tags.json.damaged-1"] {
            guard case .partial(let tags, let damage) = folder(scratch).load() else {
                Issue.record("nothing is read")
                return
            }
            #expect(tags.map(\.id.text) == ["first", "last"])
            let kept = scratch.path + "/" + copy
            let record = DamagedState.Record(name: name, serial: serial, reason: reason)
            #expect(damage == DamagedState(keptAs: kept, records: [record]))
            #expect(try String(contentsOfFile: kept, encoding: .utf8) == file)
            #expect(try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(
        "does not change a file of a later release",
        arguments: [#"{"version":2,"tags":[]}"#, #"{"version":2,"tags":[{"name":"x"}]}"#, #"{"version":2}"#])
    func laterVersion(text: String) throws {
        let scratch = try ScratchFolder()
        _ = try scratch.write("tags.json", text)
        #expect(folder(scratch).load() == .unreadable(reason: "version 2 of another release", isOfOtherRelease: true))
        #expect(folder(scratch).load() == .unreadable(reason: "version 2 of another release", isOfOtherRelease: true))
    }

    @Test("makes its file private, and does not follow links")
    func closed() throws {
        let scratch = try ScratchFolder()
        try folder(scratch).save([.sample("a")])
        let file = scratch.path + "/tags.json"
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.moveItem(atPath: file, toPath: scratch.path + "/other")
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: scratch.path + "/other")
        let reason = "it is a symbolic link, not a regular file"
        #expect(folder(scratch).load() == .unreadable(reason: reason))
    }

    @Test("reports why it cannot be written")
    func notWritable() throws {
        let scratch = try ScratchFolder()
        let file = try scratch.write("file", "")
        #expect(throws: FileError.self) { try StateFolder(option: file, environment: [:]).save([]) }
    }
}

@Suite("Tag store")
struct TagStoreTests {
    @Test("writes changes to the disk soon")
    func remembers() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let folder = StateFolder(option: scratch.path, environment: [:])
            let store = TagStore(folder, log: Logger("store", to: MemorySink()))
            await store.load()
            for number in 0..<10 { store.remember(.sample("tag\(number)")) }
            store.forget(StoredTag.sample("tag3").key)
            try await until("nine tags on the disk") {
                guard case .tags(let tags) = folder.load() else { return false }
                return tags.count == 9
            }
            let again = TagStore(folder, log: Logger("store", to: MemorySink()))
            await again.load()
            #expect(again.tags[StoredTag.sample("tag3").key] == nil && again.isComplete)
            #expect(again.tags[StoredTag.sample("tag4").key] == .sample("tag4"))
        }
    }

    @Test("writes each change: a tag, its bond, and its removal")
    func eachChange() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let folder = StateFolder(option: scratch.path, environment: [:])
            let store = TagStore(folder, log: Logger("store", to: MemorySink()))
            await store.load()
            var tag = StoredTag.sample("a")
            tag.paired = false
            store.remember(tag)
            try await until("the tag") { folder.load() == .tags([tag]) }
            store.markPaired(StoredTag.sample("a").key)
            tag.paired = true
            try await until("its bond") { folder.load() == .tags([tag]) }
            store.forget(StoredTag.sample("a").key)
            try await until("its end") { folder.load() == .tags([]) }
        }
    }

    @Test("has all changes in the file when it has finished")
    func finishes() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let folder = StateFolder(option: scratch.path, environment: [:])
            let store = TagStore(folder, log: Logger("store", to: MemorySink()))
            await store.finish()
            for number in 0..<10 { store.remember(.sample("tag\(number)")) }
            EventLoop.shared.begin { store.forget(StoredTag.sample("tag3").key) }
            await store.finish()
            guard case .tags(let tags) = folder.load() else {
                Issue.record("no tags")
                return
            }
            #expect(Set(tags.map(\.id.text)) == Set((0..<10).filter { $0 != 3 }.map { "tag\($0)" }))
        }
    }

    @Test("collects changes for a while after a write, and writes them when it finishes")
    func pause() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let folder = StateFolder(option: scratch.path, environment: [:])
            let store = TagStore(folder, log: Logger("store", to: MemorySink()), pause: .seconds(3_600))
            store.remember(.sample("a"))
            try await until("the first tag") { folder.load() == .tags([.sample("a")]) }
            // Behind the end of the write on the loop.
            await HelperThread.shared.run(.state) {}
            store.remember(.sample("b"))
            await HelperThread.shared.run(.state) {}
            #expect(folder.load() == .tags([.sample("a")]))
            await store.finish()
            #expect(folder.load() == .tags([.sample("a"), .sample("b")]))
            store.remember(.sample("c"))
            store.forget(StoredTag.sample("a").key)
            try await until("a removal at once") { folder.load() == .tags([.sample("b"), .sample("c")]) }
            // The second one comes during the write of the first one.
            store.forget(StoredTag.sample("b").key)
            EventLoop.shared.begin { store.forget(StoredTag.sample("c").key) }
            try await until("a removal during a write") { folder.load() == .tags([]) }
            await HelperThread.shared.run(.state) {}
            var tag = StoredTag.sample("d")
            tag.paired = false
            store.remember(tag)
            store.forget(StoredTag.sample("a").key)
            EventLoop.shared.begin { store.markPaired(StoredTag.sample("d").key) }
            try await until("a bond during a write") { folder.load() == .tags([.sample("d")]) }
            await HelperThread.shared.run(.state) {}
            tag = .sample("e")
            tag.paired = false
            store.remember(tag)
            store.markPaired(StoredTag.sample("e").key)
            try await until("a bond at once") { folder.load() == .tags([.sample("d"), .sample("e")]) }
        }
    }

    @Test("keeps the links of a process that was killed, until they have ended or are not to be used")
    func links() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let folder = StateFolder(option: scratch.path, environment: [:])
            let store = TagStore(folder, log: Logger("store", to: MemorySink()), pause: .seconds(3_600))
            let links: @LoopActor () -> [String] = {
                guard case .tags(let tags) = folder.load() else { return [] }
                return tags.compactMap(\.link)
            }
            let (a, b) = (StoredTag.sample("a"), StoredTag.sample("b"))
            store.remember(a)
            for tag in [a, b] { store.linkBegan(tag.key, at: tag.id.text) }
            try await until("both, in spite of the pause") { links() == ["a", "b"] }
            // A new description of the tag keeps it, and a short loss does not write.
            store.remember(a)
            store.linkEnded(a.key)
            await store.finish()
            #expect(links() == ["a", "b"])
            let next = TagStore(folder, log: Logger("store", to: MemorySink()))
            await next.load()
            #expect(next.takeLinks() == ["a", "b"])
            next.linkIsNotToBeUsed(b.key)
            try await until("one") { links() == ["a"] }
            next.linkBegan(b.key, at: "b")
            next.keepLinks(["b"])
            await next.finish()
            #expect(links() == ["b"])
        }
    }

    @Test("does not overwrite a file that it could not read")
    func keepsUnreadable() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let file = try scratch.write("tags.json", #"{"version":2,"tags":[]}"#)
            let folder = StateFolder(option: scratch.path, environment: [:])
            let store = TagStore(folder, log: Logger("store", to: MemorySink()))
            await store.load()
            store.remember(.sample("a"))
            await HelperThread.shared.run {}
            #expect(try Data(contentsOf: URL(filePath: file)) == Data(#"{"version":2,"tags":[]}"#.utf8))
        }
    }

    @Test("retries a failed write, and reports failure and recovery")
    func retries() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let path = try scratch.write("state", "")
            let folder = StateFolder(option: path, environment: [:])
            let sink = MemorySink()
            let store = TagStore(folder, log: Logger("store", to: sink), retryInterval: .milliseconds(1))
            var failures: [String?] = []
            store.onChange = { [unowned store] in failures.append(store.failure?.reason) }
            store.remember(.sample("a"))
            try await until("the failure") { !failures.isEmpty }
            try FileManager.default.removeItem(atPath: path)
            try await until("the file") { folder.load() == .tags([.sample("a")]) }
            try await until("the end of the failure") { failures.last == .some(nil) }
            #expect(failures == ["Not a directory", nil])
            #expect(sink.records.map(\.message) == ["cannot save the known tags", "known tags are saved again"])
        }
    }

    @Test("has nothing to save after a failed change was reverted")
    func undone() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let path = try scratch.write("state", "")
            let store = TagStore(
                StateFolder(option: path, environment: [:]), log: Logger("store", to: MemorySink()),
                retryInterval: .seconds(3600))
            store.remember(.sample("a"))
            try await until("the failure") { store.failure != nil }
            store.forget(StoredTag.sample("a").key)
            try await until("its end") { store.failure == nil }
        }
    }

    @Test("reports a file as not saved that it could not read")
    func unreadable() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            _ = try scratch.write("tags.json", #"{"version":2,"tags":[]}"#)
            let store = TagStore(
                StateFolder(option: scratch.path, environment: [:]), log: Logger("store", to: MemorySink()))
            var changes = 0
            store.onChange = { changes += 1 }
            await store.load()
            #expect(
                store.failure?.isOfOtherRelease == true && store.failure?.reason == "version 2 of another release"
                    && !store.isComplete && changes == 1)
        }
    }

    @Test("is not complete after a damaged file, which it names")
    func damaged() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let file = try scratch.write("tags.json", "{")
            let store = TagStore(
                StateFolder(option: scratch.path, environment: [:]), log: Logger("store", to: MemorySink()))
            await store.load()
            #expect(!store.isComplete && store.damage == DamagedState(keptAs: file + ".damaged", records: []))
        }
    }

    @Test("works without a writable folder, and logs it once")
    func readOnly() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let file = try scratch.write("file", "")
            let sink = MemorySink()
            let store = TagStore(StateFolder(option: file, environment: [:]), log: Logger("store", to: sink))
            store.remember(.sample("a"))
            try await until("the first failure") { !sink.records.isEmpty }
            store.remember(.sample("b"))
            await HelperThread.shared.run {}
            #expect(sink.records.map(\.message) == ["cannot save the known tags"])
            #expect(store.tags.count == 2)
        }
    }
}
