import Bluetooth
import EventLoop
import FakeBlueZ
import Logging
import Simulator
import TestSupport
import Testing

@testable import BlueZ

@Suite("Adapters")
struct AdapterTests {
    @Test(
        "that are switched off lose their links first, and work again when they are switched on",
        arguments: [true, false])
    func power(isScanning: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            // No scan runs while a link is being made.
            if !isScanning {
                bench.onEvent = { [unowned bench] in if case .connected = $0 { bench.blueZ.setPowered(false) } }
            }
            bench.central.perform(.connect(CentralBench.address(2)))
            try await bench.wait("connected 2")
            bench.onEvent = nil
            if isScanning {
                try await bench.scansAgain()
                bench.blueZ.setPowered(false)
            }
            try await bench.wait("scanning false")
            // BlueZ signals the first change first: either discovery and power, or the links.
            let error = isScanning ? "poweredOff" : "connectionFailed"
            #expect(
                bench.events.suffix(4) == [
                    "disconnected 1 \(error)", "disconnected 2 \(error)", "state poweredOff", "scanning false",
                ])
            #expect(bench.adapters.last?.first?.state == .poweredOff)
            bench.clear()
            bench.central.perform(.connect(CentralBench.address(1)))
            bench.blueZ.setPowered(true)
            try await bench.wait("connected 1")
            #expect(!bench.events.contains { $0.hasPrefix("disconnected") })
        }
    }

    @Test("that are switched off during a connection attempt cancel it")
    func powerWhileConnecting() async throws {
        try await onLoop {
            let bench = try await CentralBench(.patient)
            try await bench.attempt()
            bench.onEvent = { [unowned bench] event in
                if case .disconnected(let address, _) = event { bench.central.perform(.connect(address)) }
            }
            bench.blueZ.setPowered(false)
            bench.blueZ.setPowered(true)
            bench.tags[0].setInRange(true)
            try await bench.wait("connected 1")
            #expect(bench.events.count { $0.hasPrefix("disconnected") } == 1)
        }
    }

    @Test("that are unplugged are unsupported, and are found when they are plugged in again")
    func unplug() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            bench.blueZ.setPlugged(false, adapter: 0)
            try await bench.wait("state unsupported")
            #expect(bench.central.adapterID == nil)
            #expect(bench.events.count { $0.hasPrefix("disconnected 1") } == 1)
            bench.blueZ.setPlugged(true, adapter: 0)
            try await bench.wait("state poweredOn", 2)
            try await bench.connect()
        }
    }

    @Test(
        "are chosen as configured",
        arguments: [
            (BlueZCentral.AdapterChoice.automatic, "hci0"), (.named("hci1"), "hci1"),
        ])
    func choice(choice: BlueZCentral.AdapterChoice, id: String) async throws {
        try await onLoop {
            let bench = try await CentralBench(adapters: 2, choice: choice)
            #expect(bench.central.adapterID == id)
            #expect(bench.adapters.last?.map(\.id) == ["hci0", "hci1"])
            try await bench.connect()
            #expect(bench.calls.contains("StartDiscovery \(id)"))
        }
    }

    @Test("are replaced by another one when the one in use is switched off, and that one stays in use")
    func change() async throws {
        try await onLoop {
            let bench = try await CentralBench(adapters: 2)
            try await bench.connect()
            try await bench.scansAgain()
            bench.blueZ.setPowered(false, adapter: 0)
            try await bench.wait("disconnected 1 poweredOff")
            #expect(bench.central.adapterID == "hci1")
            #expect(!bench.events.contains("state poweredOff"))
            try await bench.wait("scanning true", 2)
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1", 2)
            bench.blueZ.setPowered(true, adapter: 0)
            try await bench.settle()
            #expect(bench.central.adapterID == "hci1")
        }
    }

    @Test("report the bonded devices before they become usable")
    func bonds() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.pair()
            let other = BlueZCentral(
                busAddress: bench.bus.address, adapter: .automatic, resetAdapter: false, timing: .quick,
                log: Logger("other", to: MemorySink()))
            var bonds: [Set<BluetoothAddress>] = []
            var bondsWhenOn: [Set<BluetoothAddress>]?
            other.onEvent = { event in
                if case .bonds(let addresses) = event { bonds.append(addresses) }
                if case .stateChanged(.poweredOn) = event { bondsWhenOn = bonds }
            }
            await other.start()
            try await until("the state") { bondsWhenOn != nil }
            #expect(bondsWhenOn == [[CentralBench.address(1)]])
        }
    }

    @Test("report how many devices are connected through them, and whether they scan")
    func facts() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            #expect(bench.adapters.last?.first?.address == BluetoothAddress("00:1A:7D:00:00:01"))
            #expect(bench.adapters.last?.first?.connectedCount == 0)
            bench.scan()
            try await until("it scans") { bench.adapters.last?.first?.isDiscovering == true }
            try await bench.connect()
            try await until("one") { bench.adapters.last?.first?.connectedCount == 1 }
            bench.scan(false)
            bench.central.perform(.disconnect(CentralBench.address(1)))
            try await until("none") {
                bench.adapters.last?.first?.connectedCount == 0 && bench.adapters.last?.first?.isDiscovering == false
            }
        }
    }
}

@Suite("Choice of an adapter")
struct AdapterChoiceTests {
    private static let first = BluetoothAddress("00:1A:7D:00:00:01")
    private static let second = BluetoothAddress("00:1A:7D:00:00:02")

    private static func adapters(_ powered: [String: Bool]) -> [String: ObjectTree.AdapterObject] {
        Dictionary(
            uniqueKeysWithValues: powered.map { name, isPowered in
                (
                    "/org/bluez/" + name,
                    ObjectTree.AdapterObject(address: name == "hci0" ? first : second, isPowered: isPowered)
                )
            })
    }

    @Test(
        "takes one that is switched on if none is configured, and keeps it",
        arguments: [
            (["hci0": true, "hci1": true], nil, "hci0"), (["hci0": false, "hci1": true], nil, "hci1"),
            (["hci0": false, "hci1": false], nil, "hci0"), (["hci0": true, "hci1": true], "hci1", "hci1"),
            (["hci0": true, "hci1": false], "hci1", "hci0"), (["hci0": false, "hci1": false], "hci1", "hci1"),
            (["hci0": true], "hci1", "hci0"), (["hci2": true, "hci10": true], nil, "hci2"), ([:], "hci0", nil),
        ] as [([String: Bool], String?, String?)])
    func automatic(powered: [String: Bool], inUse: String?, chosen: String?) {
        let path = BlueZCentral.AdapterChoice.automatic.path(
            among: Self.adapters(powered), inUse: inUse.map { "/org/bluez/" + $0 })
        #expect(path == chosen.map { "/org/bluez/" + $0 })
    }

    @Test("takes only the configured name or address")
    func fixed() throws {
        let both = Self.adapters(["hci0": true, "hci1": false])
        #expect(
            BlueZCentral.AdapterChoice.named("hci1").path(among: both, inUse: "/org/bluez/hci0") == "/org/bluez/hci1")
        #expect(BlueZCentral.AdapterChoice.named("hci7").path(among: both, inUse: "/org/bluez/hci0") == nil)
        let address = try #require(Self.second)
        #expect(BlueZCentral.AdapterChoice.address(address).path(among: both, inUse: nil) == "/org/bluez/hci1")
    }
}
