import Bluetooth
import Bridge
import Configuration
import EventLoop
import Foundation
import Logging
import TestSupport
import Testing

@testable import Daemon

@Suite("Stored instance names")
struct RunStoreTests {
    @LoopActor
    private func begin(_ instance: String, boot: String, in folder: StateFolder) async -> [FormerInstance] {
        let store = RunStore(folder, log: Logger("state", to: MemorySink()))
        let former = await store.begin(instance, boot: boot)
        await store.keepStart()
        return former
    }

    @Test("are known after a restart, with the boots of each, until their topics are cleared")
    func restart() async throws {
        let temporary = try ScratchFolder()
        let folder = StateFolder(option: temporary.path + "/state", environment: [:])
        try await onLoop {
            #expect(await begin("old", boot: "a", in: folder) == [])
            #expect(await begin("old", boot: "b", in: folder) == [])
            #expect(await begin("new", boot: "c", in: folder) == [FormerInstance(name: "old", boots: ["b", "a"])])
            let store = RunStore(folder, log: Logger("state", to: MemorySink()))
            #expect(await store.begin("new", boot: "d") == [FormerInstance(name: "old", boots: ["b", "a"])])
            store.forget("old")
            try await until("the file says so") { folder.loadRuns().runs.instances.map(\.name) == ["new"] }
            #expect(await begin("new", boot: "e", in: folder) == [])
        }
    }

    @Test("are stored once, and not before the bridge has begun")
    func keepsStart() async throws {
        let temporary = try ScratchFolder()
        let folder = StateFolder(option: temporary.path + "/state", environment: [:])
        try await onLoop {
            let store = RunStore(folder, log: Logger("state", to: MemorySink()))
            _ = await store.begin("a", boot: "1")
            #expect(folder.loadRuns().runs.instances.isEmpty)
            await store.keepStart()
            #expect(folder.loadRuns().runs.instances.map(\.boots) == [["1"]])
            try FileManager.default.removeItem(atPath: folder.path + "/runs.json")
            await store.keepStart()
            #expect(folder.loadRuns().runs.instances.isEmpty)
        }
    }

    @Test("are stored with the adapter that is being reset")
    func reset() async throws {
        let temporary = try ScratchFolder()
        let folder = StateFolder(option: temporary.path + "/state", environment: [:])
        try await onLoop {
            let store = RunStore(folder, log: Logger("state", to: MemorySink()))
            _ = await store.begin("a", boot: "1")
            await store.reset("F0:00:00:00:00:01")
            let next = RunStore(folder, log: Logger("state", to: MemorySink()))
            _ = await next.begin("a", boot: "2")
            #expect(next.switchedOff == "F0:00:00:00:00:01")
            await next.reset(nil)
            #expect(folder.loadRuns().runs.switchedOff == nil)
            #expect(folder.loadRuns().runs.instances.map(\.boots) == [["2", "1"]])
        }
    }

    @Test("are stored with the bonds of proxies")
    func bonds() async throws {
        let temporary = try ScratchFolder()
        let folder = StateFolder(option: temporary.path + "/state", environment: [:])
        let tags = Set(["F0:00:00:00:00:01", "F0:00:00:00:00:02"].compactMap { BluetoothAddress($0) })
        try await onLoop {
            let store = RunStore(folder, log: Logger("state", to: MemorySink()))
            _ = await store.begin("a", boot: "1")
            store.keep(tags, of: "loft")
            store.keep(tags, of: "hall")
            store.keep([], of: "hall")
            try await until("the file has them") { folder.loadRuns().runs.proxyBonds?.addresses(of: "loft") == tags }
            let next = RunStore(folder, log: Logger("state", to: MemorySink()))
            _ = await next.begin("a", boot: "2")
            #expect(next.proxyBonds.addresses(of: "loft") == tags)
            #expect(next.proxyBonds.addresses(of: "hall") == [])
        }
    }

    @Test("keep the bonds of proxies by their controllers, also after two radios have swapped their names")
    func bondsByController() async throws {
        let temporary = try ScratchFolder()
        let folder = StateFolder(option: temporary.path + "/state", environment: [:])
        let addresses = ["F0:00:00:00:00:01", "F0:00:00:00:00:02", "AA:BB:CC:DD:EE:01", "AA:BB:CC:DD:EE:02"]
            .compactMap { BluetoothAddress($0) }
        try #require(addresses.count == 4)
        try await onLoop {
            let store = RunStore(folder, log: Logger("state", to: MemorySink()))
            _ = await store.begin("a", boot: "1")
            store.keep([addresses[0]], of: "loft", controller: addresses[2])
            store.keep([addresses[1]], of: "hall", controller: addresses[3])
            store.keep([addresses[1]], of: "loft", controller: addresses[3])
            store.keep([], of: "hall", controller: addresses[2])
            let expected: [BluetoothAddress: Set<BluetoothAddress>] = [addresses[2]: [], addresses[3]: [addresses[1]]]
            try await until("the file has them") { folder.loadRuns().runs.proxyBonds?.byController == expected }
            #expect(folder.loadRuns().runs.proxyBonds?.addresses(of: "loft") == [addresses[1]])
            #expect(folder.loadRuns().runs.proxyBonds?.addresses(of: "hall") == [])
        }
    }

    @Test("are at most 8, with 8 boots each")
    func bounds() {
        var runs = StoredRuns()
        for number in 0..<20 { runs.started("old", boot: "\(number)") }
        #expect(runs.instances.map(\.boots) == [(12..<20).reversed().map { "\($0)" }])
        for number in 0..<20 { runs.started("n\(number)", boot: "x") }
        #expect(runs.instances.map(\.name) == (12..<20).reversed().map { "n\($0)" })
    }

    @Test("are stored with the bonds of at most 64 proxies")
    func mostBonds() throws {
        let tag = try #require(BluetoothAddress("F0:00:00:00:00:01"))
        var bonds = ProxyBonds()
        for number in 10..<80 { bonds.set([tag], of: "n\(number)") }
        #expect((10..<80).filter { !bonds.addresses(of: "n\($0)").isEmpty } == Array(16..<80))
    }

    @Test("of another release are not known, and their file is not overwritten")
    func otherRelease() async throws {
        let temporary = try ScratchFolder()
        let text = #"{"version":2,"instances":[{"name":"a","boots":[]}]}"#
        let file = try temporary.write("runs.json", text)
        try await onLoop {
            let sink = MemorySink()
            let store = RunStore(StateFolder(option: temporary.path, environment: [:]), log: Logger("state", to: sink))
            #expect(await store.begin("b", boot: "1") == [])
            await store.keepStart()
            await store.reset("F0:00:00:00:00:01")
            #expect((try? String(contentsOfFile: file, encoding: .utf8)) == text)
            #expect(sink.records.contains { $0.message.hasPrefix("cannot read the names of former runs") })
        }
    }

    @Test(
        "are empty if the file is damaged or of another release",
        arguments: ["", "{", #"{"version":2,"instances":[{"name":"a","boots":[]}]}"#])
    func damaged(text: String) throws {
        let temporary = try ScratchFolder()
        _ = try temporary.write("runs.json", text)
        #expect(StateFolder(option: temporary.path, environment: [:]).loadRuns().runs == StoredRuns())
    }
}
