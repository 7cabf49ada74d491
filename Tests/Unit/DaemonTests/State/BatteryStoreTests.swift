import Bridge
import Configuration
import EventLoop
import FoundationEssentials
import JacquardProtocol
import Logging
import TestSupport
import Testing

@testable import Daemon

@Suite("Battery store")
struct BatteryStoreTests {
    private static let history = BatteryHistory(
        points: [
            .init(second: 1_795_000_000, level: 90, load: .gesture),
            .init(second: 1_795_010_000, level: 89, load: .continuous),
        ],
        discharges: [.init(gesture: 10_800), .init(gesture: 9_000, continuous: 700)])

    private static func record(_ history: BatteryHistory = history, serial: String = "003R") -> TagRecord {
        TagRecord(id: "003R", serial: serial, history: history)
    }

    private static let known: Set<StoredTag.Key> = [StoredTag.sample("003R").key]

    private let scratch: ScratchFolder
    private let folder: StateFolder

    init() throws {
        scratch = try ScratchFolder()
        folder = StateFolder(option: scratch.path, environment: [:])
    }

    private var file: String? {
        try? String(contentsOfFile: scratch.path + "/batteries.json", encoding: .utf8)
    }

    @LoopActor
    private static func store(
        _ folder: StateFolder, _ sink: MemorySink = MemorySink(), interval: Duration = .seconds(3_600)
    ) -> BatteryStore {
        BatteryStore(folder, log: Logger("state", to: sink), interval: interval)
    }

    @Test("keeps histories across restarts")
    func restart() async throws {
        try await onLoop {
            let store = Self.store(folder)
            await store.load(for: Self.known)
            store.remember(Self.record())
            await store.finish(within: .seconds(60))
            let next = Self.store(folder)
            await next.load(for: Self.known)
            #expect(next.complete(Self.record(BatteryHistory())).history == Self.history)
        }
        #expect(
            file
                == #"{"batteries":[{"discharges":[10800,0,9000,700],"id":"003R","#
                + #""points":[1795000000,90,0,1795010000,89,1],"serial":"003R"}],"version":1}"# + "\n")
    }

    @Test("does not write before the interval has passed, and nothing without a change")
    func interval() async throws {
        try await onLoop {
            let store = Self.store(folder)
            await store.load(for: Self.known)
            store.remember(Self.record(BatteryHistory()))
            await store.finish(within: .seconds(60))
        }
        #expect(file == nil)
        try await onLoop {
            let other = try ScratchFolder()
            let stores = [
                Self.store(folder),
                Self.store(StateFolder(option: other.path, environment: [:]), interval: .milliseconds(5)),
            ]
            stores.forEach { $0.remember(Self.record()) }
            // The second one is written after what the first one would have written at once.
            try await until("the other file") {
                FileManager.default.fileExists(atPath: other.path + "/batteries.json")
            }
            #expect(file == nil)
        }
        try await onLoop {
            let store = Self.store(folder, interval: .milliseconds(5))
            await store.load(for: Self.known)
            store.remember(Self.record())
            #expect(file == nil)
            try await until("the file") { file != nil }
        }
    }

    @Test("removes the history of a forgotten tag from the file without delay")
    func forgotten() async throws {
        try await onLoop {
            let store = Self.store(folder)
            store.remember(Self.record())
            await store.finish(within: .seconds(60))
            #expect(file?.contains("003R") == true)
            store.forget(TagEntry(id: "003R", serial: "0099"))
            #expect(!store.complete(Self.record(BatteryHistory())).history.isEmpty, "another tag with the id")
            store.forget(TagEntry(id: "003R", serial: "003R"))
            try await until("a file without the tag") { file?.contains("003R") == false }
            #expect(store.complete(Self.record(BatteryHistory())).history.isEmpty)
        }
    }

    @Test("drops the history of an unknown tag, and of another tag with the same id")
    func others() async throws {
        try await onLoop {
            let store = Self.store(folder)
            store.remember(Self.record())
            await store.finish(within: .seconds(60))
            for (known, isKept) in [([], false), (Self.known, true), (nil, true)] as [(Set<StoredTag.Key>?, Bool)] {
                let next = Self.store(folder)
                await next.load(for: known)
                #expect(next.complete(Self.record(BatteryHistory())).history.isEmpty == !isKept)
                #expect(next.complete(Self.record(BatteryHistory(), serial: "004S")).history.isEmpty)
            }
        }
    }

    @Test(
        "sets a damaged file aside and starts with nothing",
        arguments: [
            "", "{", "[]", #"{"version":1}"#, #"{"version":1,"batteries":{}}"#,
        ])
    func damaged(text: String) async throws {
        _ = try scratch.write("batteries.json", text)
        let sink = MemorySink()
        try await onLoop {
            let store = Self.store(folder, sink)
            await store.load(for: Self.known)
            store.remember(Self.record())
            await store.finish(within: .seconds(60))
        }
        #expect(try String(contentsOfFile: scratch.path + "/batteries.json.damaged", encoding: .utf8) == text)
        #expect(file?.contains("003R") == true)
        #expect(sink.records.map(\.message) == ["the file of battery histories is damaged and was set aside"])
    }

    @Test(
        "uses the valid histories beside a damaged one, and keeps the whole file as a copy",
        arguments: [
            "{}", #"{"id":"a/b","serial":"004S","points":[],"discharges":[]}"#,
            #"{"id":"004S","serial":"004S","points":[1],"discharges":[]}"#,
            #"{"id":"004S","serial":"004S","points":["1",2,3],"discharges":[]}"#,
        ])
    func partial(record: String) async throws {
        let valid = #"{"id":"003R","serial":"003R","points":[1795000000,42,0],"discharges":[]}"#
        let text = #"{"version":1,"batteries":[\#(record),\#(valid)]}"#
        _ = try scratch.write("batteries.json", text)
        let sink = MemorySink()
        try await onLoop {
            let store = Self.store(folder, sink)
            await store.load(for: Self.known)
            #expect(store.complete(Self.record(BatteryHistory())).history.points.map(\.level) == [42])
            try await until("a file without the damaged record") { file != text }
        }
        #expect(try String(contentsOfFile: scratch.path + "/batteries.json.damaged", encoding: .utf8) == text)
        #expect(file?.contains("003R") == true && file?.contains("004S") == false)
        #expect(sink.records.map { $0.metadata.last?.value } == ["1"])
    }

    @Test("does not overwrite the file of another release")
    func laterVersion() async throws {
        _ = try scratch.write("batteries.json", #"{"version":2}"#)
        try await onLoop {
            let store = Self.store(folder)
            await store.load(for: Self.known)
            store.remember(Self.record())
            await store.finish(within: .seconds(60))
        }
        #expect(file == #"{"version":2}"#)
    }

    @Test("leaves out values that are out of range")
    func outOfRange() {
        let stored = StoredBattery(
            id: "003R", serial: "003R",
            points: [1_795_000_000, 300, 0, 1_795_000_000, 50, 9, -5, 50, 0, 1_795_000_001, 50, 0],
            discharges: [-1, 1 << 40, 1, 0])
        #expect(stored.history.points.map(\.second) == [1_795_000_001])
        #expect(stored.history.discharges == [.init(), .init(gesture: 1)])
    }

    @Test("logs a failed write once, and the recovery")
    func failure() async throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/batteries.json", withIntermediateDirectories: false)
        let sink = MemorySink()
        try await onLoop {
            let store = Self.store(folder, sink, interval: .milliseconds(1))
            store.remember(Self.record())
            try await until("a line in the log") { !sink.records.isEmpty }
            try FileManager.default.removeItem(atPath: scratch.path + "/batteries.json")
            try await until("the file") { file != nil }
            await store.finish(within: .seconds(60))
        }
        #expect(
            sink.records.map(\.message) == [
                "cannot save the battery histories", "battery histories are saved again",
            ])
    }
}
