import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import Logging
import Simulator
import TestSupport
import Testing
import Time

@testable import BlueZ

@Suite("Scanning")
struct ScanningTests {
    @Test("starts and stops on request, and reports its state")
    func onAndOff() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.scan()
            #expect(!bench.events.contains("scanning true"))
            try await bench.wait("scanning true")
            try await until("both tags are heard") { bench.heard.count == 2 }
            bench.scan(false)
            try await bench.wait("scanning false")
            try await bench.waitForCall("StopDiscovery hci0")
            #expect(bench.events.filter { $0.hasPrefix("scanning") } == ["scanning true", "scanning false"])
            let advertisement = try #require(bench.heard[CentralBench.address(1)]?.first)
            #expect(advertisement.manufacturerData.count == 1)
            #expect(advertisement.rssi.map { (-60 ... -40).contains($0) } == true)
            #expect(advertisement.isPaired == false)
        }
    }

    @Test("does not report known devices as discovered; watching reports them as remembered")
    func watched() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.temporaryTimeout = .seconds(3600)
            let bench = try await CentralBench(options)
            bench.scan()
            try await until("both tags are heard") { bench.heard.count == 2 }
            bench.scan(false)
            try await bench.waitForCall("StopDiscovery hci0")
            try await bench.settle()
            bench.clear()
            bench.central.perform(.watch(CentralBench.service))
            #expect(bench.heard.isEmpty)
            #expect(bench.remembered.count == 2)
            #expect(bench.remembered[CentralBench.address(1)]?.manufacturerData.count == 1)
        }
    }

    @Test("asks BlueZ for every advertisement with the service")
    func filter() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let stub = try await StubBlueZ(bus)
            let central = BlueZCentral(busAddress: bus.address, log: Logger("bluez", to: MemorySink()))
            await central.start()
            try await until("the state") { central.context.state == .poweredOn }
            central.perform(.scan(CentralBench.service))
            try await until("the filter") { !stub.filters.isEmpty }
            #expect(stub.filters[0]["DuplicateData"]?.flag == true)
            #expect(stub.filters[0]["Transport"]?.text == "le")
            #expect(stub.filters[0]["UUIDs"]?.textArray == [CentralBench.service.description])
        }
    }

    @Test("pauses during a connection attempt without reporting it")
    func pause() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.waitForCall("StartDiscovery hci0", 2)
            try await bench.settle()
            let steps = bench.calls.filter { $0.contains("Discovery ") || $0.hasPrefix("Connect") }
            #expect(steps.first == "StartDiscovery hci0")
            #expect(steps.count { $0 == "StopDiscovery hci0" } == 1)
            #expect(bench.events.filter { $0.hasPrefix("scanning") } == ["scanning true"])
        }
    }

    @Test("changes its filter without reporting it")
    func change() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.scan()
            try await bench.wait("scanning true")
            bench.central.perform(.scan(CentralBench.uuid("0000180f-0000-1000-8000-00805f9b34fb")))
            try await bench.waitForCall("StartDiscovery hci0", 2)
            try await bench.settle()
            #expect(bench.events.filter { $0.hasPrefix("scanning") } == ["scanning true"])
        }
    }

    @Test("that BlueZ has ended is reported, and is restarted")
    func silentEnd() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.scan()
            try await bench.wait("scanning true")
            try await bench.settle()
            bench.blueZ.endDiscovery()
            try await bench.wait("scanning true", 2)
            #expect(
                bench.events.filter { $0.hasPrefix("scanning") } == [
                    "scanning true", "scanning false", "scanning true",
                ])
            #expect(bench.central.discovery.starting.isFresh && !bench.central.discovery.starting.isArmed)
        }
    }

    @Test(
        "that is refused is retried, with one log line",
        arguments: ["StartDiscovery", "SetDiscoveryFilter"])
    func refused(member: String) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.blueZ.faults.refused[member] = ("org.bluez.Error.Failed", "no resources")
            bench.scan()
            try await bench.waitForCall("\(member) hci0", 4)
            #expect(bench.complaints == ["starting discovery failed"])
            #expect(!bench.events.contains { $0.hasPrefix("scanning") })
            bench.blueZ.faults.refused = [:]
            try await bench.wait("scanning true")
            #expect(bench.central.discovery.starting.isFresh && !bench.central.discovery.starting.isArmed)
        }
    }

    private static let inProgress = ("org.bluez.Error.InProgress", "Operation already in progress")

    @Test("counts as started when BlueZ reports that it is in progress, and the adapter discovers")
    func inProgress() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            let other = try await bench.otherConnection()
            _ = try await other.call(.call(to: "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery"))
            try await until("the adapter discovers") { bench.tree.adapters["/org/bluez/hci0"]?.isDiscovering == true }
            bench.blueZ.faults.refused["StartDiscovery"] = Self.inProgress
            bench.scan()
            try await bench.wait("scanning true")
        }
    }

    @Test("is tried again when BlueZ reports that it is in progress, and the adapter does not discover")
    func inProgressElsewhere() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.blueZ.faults.refused["StartDiscovery"] = Self.inProgress
            bench.scan()
            try await bench.waitForCall("StartDiscovery hci0", 3)
            #expect(!bench.events.contains { $0.hasPrefix("scanning") })
            bench.blueZ.faults.refused = [:]
            try await bench.wait("scanning true")
        }
    }

    @Test("continues after a call that is never answered")
    func unanswered() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.ignoreNext("StartDiscovery")
            bench.scan()
            try await bench.waitForCall("StartDiscovery hci0", 2)
            try await bench.wait("scanning true")
        }
    }

    @Test("reports only devices that match its own filter, whatever other clients scan for")
    func twoClients() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            let other = try await bench.otherConnection()
            _ = try await other.call(.call(to: "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery"))
            try await until("the other client hears the tags") { bench.tree.devices.count == 2 }
            #expect(bench.heard.isEmpty)
            let foreign = CentralBench.uuid("0000180f-0000-1000-8000-00805f9b34fb")
            bench.central.perform(.scan(foreign))
            try await bench.wait("scanning true")
            try await bench.settle()
            #expect(bench.heard.isEmpty)
            // What the other one hears helps to connect all the same.
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1")
        }
    }

    @Test("reports a link that another client of BlueZ makes")
    func foreignLink() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            let address = CentralBench.address(1)
            bench.scan()
            try await until("it is heard") { bench.heard[address] != nil }
            #expect(bench.heard[address]?.contains(where: \.isConnected) == false)
            let other = try await bench.otherConnection()
            let path = "/org/bluez/hci0/dev_F0_00_00_00_00_01"
            _ = try await other.call(.call(to: "org.bluez", path, "org.bluez.Device1", "Connect"))
            try await until("the link is told") { bench.heard[address]?.last?.isConnected == true }
            #expect(!bench.events.contains("connected 1"))
        }
    }

    @Test("that receives nothing is restarted, at growing intervals")
    func silence() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.silence = .milliseconds(60)
            let bench = try await CentralBench(timing: timing)
            for tag in bench.tags { tag.setInRange(false) }
            bench.scan()
            try await bench.waitForCall("StartDiscovery hci0", 4)
            try await bench.settle()
            #expect(bench.events.filter { $0.hasPrefix("scanning") } == ["scanning true"])
            #expect(bench.complaints.isEmpty)
            #expect(!bench.calls.contains { $0.hasPrefix("Set ") })
        }
    }

    @Test("may switch the adapter off and on if restarts don't help")
    func reset() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.silence = .milliseconds(30)
            let bench = try await CentralBench(resetAdapter: true, timing: timing)
            let address = try #require(bench.adapters.last?.first?.address)
            var resets: [BluetoothAddress?] = []
            bench.central.onReset = { [unowned bench] in
                if $0 != nil { #expect(!bench.calls.contains("Set hci0")) }
                resets.append($0)
            }
            for tag in bench.tags { tag.setInRange(false) }
            bench.scan()
            try await bench.wait("state poweredOn", 2)
            #expect(bench.events.contains("state poweredOff"))
            try await bench.wait("scanning true", 2)
            #expect(bench.complaints == ["nothing received, switching the adapter off and on"])
            #expect(resets.prefix(2) == [address, nil])
        }
    }

    @Test("switches an adapter on that an earlier process has switched off to reset it")
    func interruptedReset() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            let address = try #require(bench.adapters.last?.first?.address)
            bench.blueZ.setPowered(false)
            try await bench.wait("state poweredOff")
            for isNoted in [false, true] {
                let next = BlueZCentral(
                    busAddress: bench.bus.address, adapter: .automatic, resetAdapter: false, timing: .quick,
                    log: Logger("next", to: MemorySink()))
                var states: [CentralState] = []
                var resets: [BluetoothAddress?] = []
                next.switchedOff = isNoted ? address : nil
                next.onReset = { resets.append($0) }
                next.onEvent = { if case .stateChanged(let state) = $0 { states.append(state) } }
                await next.start()
                try await until("the state") { states.last == (isNoted ? .poweredOn : .poweredOff) }
                try await until("the end of the reset") { resets == (isNoted ? [nil] : []) }
                await next.stop()
            }
        }
    }

    @Test("repeats the call that switches the adapter on until BlueZ accepts it, with one log line")
    func refusedReset() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            let central = bench.central
            bench.blueZ.setPowered(false)
            try await bench.wait("state poweredOff")
            bench.blueZ.faults.refused["Set"] = ("org.bluez.Error.Busy", "")
            central.switchedOff = bench.adapters.last?.first?.address
            central.adapterChanged()
            try await bench.waitForCall("Set hci0", 3)
            #expect(bench.complaints.last == "switching the adapter on failed" && bench.complaints.count == 2)
            bench.blueZ.faults.refused = [:]
            try await bench.wait("state poweredOn", 2)
            try await until("the answer") { central.reset.path == nil }
            #expect(
                central.switchedOff == nil && central.reset.switchingOn.isFresh && !central.reset.switchingOn.isArmed)
        }
    }

    @Test("never switches off an adapter with a connected device")
    func harmless() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.silence = .milliseconds(20)
            let bench = try await CentralBench(resetAdapter: true, timing: timing)
            try await bench.connect()
            bench.tags[1].setInRange(false)
            bench.clear()
            try await bench.waitForCall("StartDiscovery hci0", 5)
            #expect(!bench.calls.contains("Set hci0"))
        }
    }

    @Test("that BlueZ has ended is restarted after a pause")
    func pauseAfterEnd() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.firstPause = .seconds(3_600)
            timing.longestPause = .seconds(3_600)
            let bench = try await CentralBench(timing: timing)
            bench.scan()
            try await bench.wait("scanning true")
            bench.blueZ.endDiscovery()
            try await bench.wait("scanning false")
            try await bench.settle()
            #expect(bench.calls.count { $0 == "StartDiscovery hci0" } == 1)
        }
    }

    @Test("measures silence from its start and from each advertisement")
    func beginningOfSilence() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            for tag in bench.tags { tag.setInRange(false) }
            let idle = bench.central.discovery.watch.deadline
            bench.scan()
            try await bench.wait("scanning true")
            let begun = bench.central.discovery.watch.deadline
            #expect(begun > idle)
            for tag in bench.tags { tag.setInRange(true) }
            try await until("both tags are heard") { bench.heard.count == 2 }
            #expect(bench.central.discovery.watch.deadline > begun)
        }
    }
}
