import Bluetooth
import EventLoop
import FakeBlueZ
import JacquardProtocol
import TestSupport
import Testing
import Time

@testable import BlueZ

@Suite("Discovery of services")
struct ServiceTests {
    @Test("finds the characteristics and their properties", arguments: [false, true])
    func found(isResolvedFirst: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.blueZ.faults.resolvesBeforeObjects = isResolvedFirst
            var found: [BluetoothUUID: CharacteristicProperties] = [:]
            bench.onEvent = { if case .characteristicsDiscovered(_, let all) = $0 { found = all } }
            try await bench.connect()
            try await bench.discover()
            #expect(
                found == [
                    TagCharacteristic.command.bluetooth: [.write, .writeWithoutResponse],
                    TagCharacteristic.response.bluetooth: .notify,
                    TagCharacteristic.notify.bluetooth: .notify,
                    TagCharacteristic.rawData.bluetooth: [.write, .writeWithoutResponse, .notify],
                ])
        }
    }

    @Test("ends as soon as the objects are added, not at its time limit")
    func addedLater() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.grace = .seconds(3_600)
            let bench = try await CentralBench(timing: timing)
            bench.blueZ.faults.resolvesBeforeObjects = true
            try await bench.connect()
            try await bench.discover()
        }
    }

    @Test("works on each link, whether BlueZ keeps the objects or not", arguments: BlueZOptions.GATTCache.allCases)
    func again(cache: BlueZOptions.GATTCache) async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.gattCache = cache
            let bench = try await CentralBench(options)
            for _ in 0..<2 {
                bench.clear()
                try await bench.subscribe()
                try await bench.disconnect()
            }
        }
    }

    @Test("reports what is missing")
    func missing() async throws {
        try await onLoop {
            // Once services are resolved, what is missing stays missing: only the grace counts, for the second search too.
            var timing = Timing.quick
            timing.resolving = .seconds(3_600)
            let bench = try await CentralBench(timing: timing)
            try await bench.connect()
            let foreign = CentralBench.uuid("0000180f-0000-1000-8000-00805f9b34fb")
            bench.central.perform(.discover(foreign, characteristics: [], of: CentralBench.address(1)))
            try await bench.wait("discoveryFailed 1 serviceMissing")
            bench.central.perform(
                .discover(CentralBench.service, characteristics: [foreign], of: CentralBench.address(1)))
            try await bench.wait("discoveryFailed 1 characteristicMissing")
            // Neither spoils the next one.
            try await bench.discover()
        }
    }

    @Test("answers each request, also two at a time")
    func two() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            let foreign = CentralBench.uuid("0000180f-0000-1000-8000-00805f9b34fb")
            bench.central.perform(.discover(foreign, characteristics: [], of: CentralBench.address(1)))
            try await bench.discover()
            try await bench.wait("discoveryFailed 1 serviceMissing")
        }
    }

    @Test("does not wait indefinitely for a BlueZ that resolves nothing")
    func unresolved() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.serviceDiscovery = .seconds(60)
            var timing = Timing.quick
            timing.resolving = .milliseconds(50)
            let bench = try await CentralBench(options, timing: timing)
            try await bench.connect()
            bench.central.perform(.discover(CentralBench.service, characteristics: [], of: CentralBench.address(1)))
            try await bench.wait("discoveryFailed 1 timeout")
        }
    }

    @Test("needs a link")
    func notLinked() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.central.perform(.discover(CentralBench.service, characteristics: [], of: CentralBench.address(1)))
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            bench.write([1], .withResponse)
            bench.central.perform(.pair(CentralBench.address(1)))
            #expect(bench.events == ["state poweredOn"])
            try await bench.wait("pairFailed 1 notFound")
            #expect(
                bench.events.dropFirst() == [
                    "discoveryFailed 1 notFound", "subscribeFailed 1 characteristicMissing",
                    "writeFailed 1 characteristicMissing", "pairFailed 1 notFound",
                ])
        }
    }

    @Test("treats a device without an object as one whose services are not resolved")
    func noObject() {
        let begin = Instant(sinceBoot: .seconds(3_600))
        let path = "/org/bluez/hci0/dev_F0_00_00_00_00_01"
        var search = ServiceSearch(CentralBench.service, [], timing: Timing(), now: begin)
        #expect(search.look(in: ObjectTree(), at: path, now: begin) == nil)
        #expect(search.deadline == begin + Timing().resolving)
        guard case .failed(let error)? = search.look(in: ObjectTree(), at: path, now: search.deadline) else {
            Issue.record("the search has no end")
            return
        }
        #expect(error.code == .timeout)
    }

    @Test("allows each step the time that real controllers and bluetoothd need")
    func limits() {
        let timing = Timing()
        #expect(timing.call == .seconds(10) && timing.connect == .seconds(45) && timing.pair == .seconds(60))
        #expect(timing.connectUnheard == .seconds(8) && timing.resolving == .seconds(30))
        #expect(timing.grace == .seconds(3) && timing.linkEnd == .seconds(2) && timing.silence == .seconds(180))
    }
}
