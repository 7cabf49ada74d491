import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import Glibc
import Logging
import Simulator
import TestSupport
import Testing
import Text
import Time

@testable import BlueZ

@Suite("Restarts of bluetoothd and the bus")
struct ServiceLifeTests {
    @Test("all links end when bluetoothd stops, and connections work after it has restarted")
    func crash() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            bench.central.perform(.connect(CentralBench.address(2)))
            try await bench.wait("connected 2")
            bench.clear()
            bench.blueZ.crash()
            try await bench.wait("scanning false")
            #expect(
                bench.events == [
                    "disconnected 1 connectionFailed", "disconnected 2 connectionFailed", "state resetting",
                    "scanning false",
                ])
            #expect(bench.adapters.last == [])
            try await bench.blueZ.start()
            try await bench.wait("scanning true")
            try await bench.subscribe()
        }
    }

    /// An end of all links.
    enum End: CaseIterable {
        case crash, bus, adapterOff, adapterGone, removed, closed
    }

    @Test("the values that BlueZ has passed on are delivered before the end", arguments: End.allCases)
    func lastValues(end: End) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            var count: Int?
            bench.onEvent = { [unowned bench] in if case .disconnected = $0 { count = bench.values.count } }
            try bench.notify(count: 20)
            bench.end(end)
            try await until("the end") { count != nil }
            #expect(count == 20)
        }
    }

    @Test(
        "every link, attempt and waiting device ends with the adapter, bluetoothd or the bus, and the central keeps nothing",
        arguments: [End.crash, .bus, .adapterOff, .adapterGone])
    func nothingLeft(end: End) async throws {
        try await onLoop {
            let bench = try await CentralBench(.patient, tags: 5)
            let central = bench.central
            try await bench.subscribe(1)
            for number in 2...3 { try await bench.connect(number) }
            bench.blueZ.faults.unanswered = ["Disconnect", "Pair"]
            central.perform(.pair(CentralBench.address(2)))
            try await bench.waitForCall("Pair 2")
            central.perform(.disconnect(CentralBench.address(3)))
            try await bench.waitForCall("Disconnect 3")
            try await bench.attempt(4)
            central.perform(.connect(CentralBench.address(5)))
            try await until("it waits for the attempt") { central.links.contentionTimer.isArmed }
            bench.clear()
            bench.end(end)
            try await until("all ends") { bench.events.count { $0.hasPrefix("disconnected") } == 5 }
            let error = end == .crash || end == .bus ? "connectionFailed" : "poweredOff"
            let ends = bench.events.filter { $0.hasPrefix("disconnected") }
            #expect(ends.map { $0.prefix(14) }.sorted() == (1...5).map { "disconnected \($0)" })
            #expect(ends.contains("disconnected 3") && ends.contains("disconnected 5 \(error)"))
            #expect(central.links.peripherals.isEmpty && central.links.queue.isEmpty && central.links.attempt == nil)
            #expect(
                central.pairing.requested.isEmpty && central.context.connection.listeners.isEmpty
                    && !central.links.contentionTimer.isArmed)
            #expect(central.discovery.session.running == nil && !central.discovery.session.isChanging)
            #expect(central.context.connection.isLoaded == (end == .adapterOff || end == .adapterGone))
        }
    }

    @Test("a connection attempt ends when bluetoothd stops")
    func crashWhileConnecting() async throws {
        try await onLoop {
            let bench = try await CentralBench(.patient)
            try await bench.attempt()
            bench.onEvent = { [unowned bench] event in
                // A listener may request the connection again when it receives the end.
                if case .disconnected(let address, _) = event { bench.central.perform(.connect(address)) }
            }
            bench.blueZ.crash()
            try await bench.wait("state resetting")
            bench.tags[0].setInRange(true)
            try await bench.blueZ.start()
            try await bench.wait("connected 1")
            try await bench.settle()
            #expect(bench.events.count { $0.hasPrefix("connected") } == 1)
        }
    }

    @Test("Bluetooth is reported as resetting if bluetoothd is not running at startup")
    func notRunning() async throws {
        try await onLoop {
            let bench = try await CentralBench(isStarted: false)
            await bench.central.start()
            try await bench.wait("state resetting")
            #expect(bench.complaints == ["bluetoothd is not running"])
            try await bench.blueZ.start()
            try await bench.wait("state poweredOn")
        }
    }

    @Test("a bluetoothd that replaces another on the bus is detected")
    func replaced() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let first = try await StubBlueZ(bus)
            let central = BlueZCentral(busAddress: bus.address, log: Logger("bluez", to: MemorySink()))
            var states: [CentralState] = []
            central.onEvent = { if case .stateChanged(let state) = $0 { states.append(state) } }
            await central.start()
            try await until("the first") { states == [.poweredOn] }
            let second = try await StubBlueZ(bus)
            try await until("the second") { states == [.poweredOn, .resetting, .poweredOn] }
            #expect((first.loads, second.loads) == (1, 1))
            try await until("the agent of the second") { second.agent != nil }
        }
    }

    @Test(
        "reading the objects is retried after an error",
        arguments: [
            ("org.freedesktop.DBus.Error.AccessDenied", CentralState.unauthorized),
            ("org.freedesktop.DBus.Error.NoReply", CentralState.unknown),
        ])
    func loading(error: String, state: CentralState) async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let stub = try await StubBlueZ(bus)
            stub.refusal = error
            let sink = MemorySink(level: .notice)
            let central = BlueZCentral(
                busAddress: bus.address, adapter: .automatic, resetAdapter: false, timing: .quick,
                log: Logger("bluez", to: sink))
            await central.start()
            try await until("several attempts") { stub.loads >= 3 }
            #expect(central.context.state == state)
            #expect(sink.records.map(\.message) == ["reading the objects of BlueZ failed"])
            stub.refusal = nil
            try await until("the state") { central.context.state == .poweredOn }
            #expect(central.context.connection.loading.isFresh)
        }
    }

    @Test("a bus policy that denies access to BlueZ is reported as an unauthorized adapter")
    func policy() async throws {
        try await onLoop {
            let bus = try await PrivateBus(rules: #"<deny send_destination="org.bluez"/>"#)
            let stub = try await StubBlueZ(bus)
            let central = BlueZCentral(
                busAddress: bus.address, adapter: .named("hci0"), resetAdapter: false, timing: .quick,
                log: Logger("bluez", to: MemorySink()))
            var adapters: [[Adapter]] = []
            central.onEvent = { if case .adaptersChanged(let all) = $0 { adapters.append(all) } }
            await central.start()
            try await until("the state") { central.context.state == .unauthorized }
            try await until("the adapter") { !adapters.isEmpty }
            let refused = Adapter(
                id: "hci0", address: nil, state: .unauthorized, isDiscovering: false, connectedCount: 0)
            #expect(adapters == [[refused]])
            #expect(stub.loads == 0)
        }
    }

    @Test("a central without an adapter says why: the bus, bluetoothd, or no such adapter")
    func faults() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let nowhere = BlueZCentral(
                busAddress: "unix:path=\(scratch.path)/nothing", adapter: .automatic, resetAdapter: false,
                timing: .quick,
                log: Logger("bluez", to: MemorySink()))
            await nowhere.start()
            #expect(nowhere.fault?.text.contains("nothing") == true, "\(nowhere.fault.debugDescription)")
            let bus = try await PrivateBus()
            let central = BlueZCentral(
                busAddress: bus.address, adapter: .named("hci7"), resetAdapter: false, timing: .quick,
                log: Logger("bluez", to: MemorySink()))
            #expect(central.fault == nil)
            await central.start()
            try await until("the absent service") { central.fault?.text == "bluetoothd is not running" }
            let stub = try await StubBlueZ(bus)
            try await until("the absent adapter") {
                central.fault == .otherAdaptersOnly(wanted: "hci7", present: ["hci0 00:1A:7D:00:00:01"])
            }
            #expect(stub.loads > 0)
        }
    }

    @Test("all links end when the bus stops, and a restarted bus is found")
    func busGone() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            bench.clear()
            bench.bus.daemon.signal(SIGKILL)
            try await bench.wait("state unknown")
            #expect(
                bench.events == [
                    "disconnected 1 connectionFailed", "state resetting", "scanning false", "state unknown",
                ])
            #expect(bench.complaints == ["the system bus has gone"])
            let next = try await bench.bus.startAgain()
            defer { next.stop() }
            let stub = try await StubBlueZ(bench.bus)
            try await bench.wait("state poweredOn")
            #expect(stub.loads == 1)
            #expect(bench.central.context.connection.opening.isFresh)
        }
    }

    @Test("no adapter is reported if there is no bus at startup, which is tried again until the central stops")
    func noBus() async throws {
        try await onLoop {
            let bench = try await CentralBench(isStarted: false)
            bench.bus.daemon.stop()
            await bench.central.start()
            #expect(bench.events == [] && bench.adapters == [[]])
            #expect(bench.complaints == ["cannot reach the system bus"])
            #expect(bench.central.context.connection.opening.isArmed)
            await bench.central.stop()
            #expect(!bench.central.context.connection.opening.isArmed)
        }
    }

    @Test("signals in BlueZ's name from other senders are ignored")
    func forged() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            let forger = try await DBusConnection.open(bench.bus.address, log: Logger("forger", to: MemorySink()))
            let properties = "org.freedesktop.DBus.Properties"
            forger.send(
                .signal(
                    "/org/bluez/hci0/dev_F0_00_00_00_00_01", properties, "PropertiesChanged",
                    [.string("org.bluez.Device1"), .properties([("Connected", .boolean(false))]), .strings([])]))
            forger.send(
                .signal(
                    "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
                    [.objectPath("/org/bluez/hci0"), .strings(["org.bluez.Adapter1"])]))
            _ = try await forger.call(
                .call(to: "org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
            try await bench.settle()
            #expect(bench.events.last == "connected 1" || bench.events.last == "scanning true")
            #expect(bench.central.context.state == .poweredOn)
        }
    }
}

extension CentralBench {
    fileprivate func end(_ end: ServiceLifeTests.End) {
        switch end {
        case .crash: blueZ.crash()
        case .bus: bus.daemon.signal(SIGKILL)
        case .adapterOff: blueZ.setPowered(false)
        case .adapterGone: blueZ.setPlugged(false, adapter: 0)
        case .removed: blueZ.removeDevices()
        case .closed:
            blueZ.faults.refused["AcquireNotify"] = ("org.bluez.Error.Failed", "Not connected")
            blueZ.closeDescriptors()
        }
    }
}
