import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import JacquardProtocol
import Logging
import Simulator
import TagFirmware
import TestSupport
import Testing
import Text

@testable import BlueZ

/// A central on a private bus, with a faithful `org.bluez` and simulated tags on the other side.
@LoopActor
final class CentralBench {
    let bus: PrivateBus
    let tags: [SimulatedTag]
    let blueZ: BlueZService
    let central: BlueZCentral
    let sink = MemorySink(level: .debug)
    /// The events of the central, such as `connected 1` or `disconnected 1 timeout`. Adapters and advertisements are
    /// recorded separately.
    private(set) var events: [String] = []
    private(set) var adapters: [[Adapter]] = []
    private(set) var heard: [BluetoothAddress: [Bluetooth.Advertisement]] = [:]
    /// Devices that BlueZ knows and does not receive.
    private(set) var remembered: [BluetoothAddress: Bluetooth.Advertisement] = [:]
    /// Each set of bonded devices that was reported.
    private(set) var bonds: [Set<BluetoothAddress>] = []
    private(set) var faults: [AdapterFault?] = []
    private(set) var values: [[UInt8]] = []
    /// The calls of the central, or of anybody else, such as `Connect 1` or `StartDiscovery hci0`.
    private(set) var calls: [String] = []
    /// Called with each event, before it is written down.
    var onEvent: ((CentralEvent) -> Void)?
    /// Called with each call, before BlueZ does anything about it.
    var onCall: ((String) -> Void)?

    nonisolated static let service = uuid(JacquardService.uuid)
    nonisolated static let notify = TagCharacteristic.notify.bluetooth

    init(
        _ options: BlueZOptions = .quick, tags count: Int = 2, adapters: Int = 1,
        choice: BlueZCentral.AdapterChoice = .automatic, resetAdapter: Bool = false, timing: Timing = .quick,
        tagOptions: TagOptions = TagOptions(), isStarted: Bool = true
    ) async throws {
        bus = try await PrivateBus()
        tags = (1...count).compactMap { number in
            guard let serial = PairingSerial("000\(number)") else { return nil }
            var tagOptions = tagOptions
            tagOptions.supervisionTimeout = .milliseconds(50)
            return SimulatedTag(
                Firmware(FirmwareIdentity(serial: serial), gear: SimulatedGear(word: "jacket")),
                address: Self.address(number).description, options: tagOptions)
        }
        blueZ = BlueZService(
            bus: bus.address, peripherals: tags, adapters: adapters, options: options,
            log: Logger("fake", to: MemorySink()))
        central = BlueZCentral(
            busAddress: bus.address, adapter: choice, resetAdapter: resetAdapter, timing: timing,
            log: Logger("bluez", to: sink))
        // Weak: a call that is under way may keep the central or BlueZ for longer than the bench.
        central.onEvent = { [weak self] in self?.note($0) }
        blueZ.onCall = { [weak self] in self?.note("\($0) \(Self.short($1))") }
        guard isStarted else { return }
        try await blueZ.start()
        try await start()
    }

    /// Starts the central and waits until it is ready.
    func start() async throws {
        await central.start()
        try await wait("state poweredOn")
    }

    /// The address of a tag, counted from 1.
    nonisolated static func address(_ number: Int) -> BluetoothAddress {
        guard let address = BluetoothAddress("F0:00:00:00:00:0\(number)") else { preconditionFailure("1 to 9") }
        return address
    }

    /// A UUID from a literal.
    nonisolated static func uuid(_ text: String) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(text) else { preconditionFailure("no UUID: \(text)") }
        return uuid
    }

    /// Lets BlueZ leave the next call of each of some members unanswered, which fails after a short time. All other calls have the
    /// usual time: on a busy machine, an answer may take long.
    func ignoreNext(_ members: String...) {
        var left = Set(members)
        blueZ.faults.unanswered = left
        central.context.connection.callLimit = .milliseconds(50)
        onCall = { [unowned self] call in
            guard left.remove(String(call.prefix { $0 != " " })) != nil else { return }
            EventLoop.shared.atEndOfTurn { [unowned self] in
                blueZ.faults.unanswered = left
                if left.isEmpty { central.context.connection.callLimit = Timing.quick.call }
            }
        }
    }

    // MARK: What happened

    private func note(_ call: String) {
        calls.append(call)
        onCall?(call)
    }

    private func note(_ event: CentralEvent) {
        onEvent?(event)
        switch event {
        case .adaptersChanged(let all): adapters.append(all)
        case .discovered(let address, let advertisement): heard[address, default: []].append(advertisement)
        case .remembered(let address, let advertisement): remembered[address] = advertisement
        case .bonds(let addresses): bonds.append(addresses)
        case .faultChanged(let fault): faults.append(fault)
        case .notified(_, _, let value): values.append(value)
        default: events.append(Self.text(event))
        }
    }

    /// Forgets what has happened so far.
    func clear() {
        events = []
        calls = []
        adapters = []
        heard = [:]
        values = []
    }

    func wait(_ event: String, _ count: Int = 1) async throws {
        do {
            try await until("\(count) x \(event)") { [unowned self] in events.count { $0 == event } >= count }
        } catch {
            Issue.record("no \(event) after \(events) and \(calls)")
            throw error
        }
    }

    /// The members of the calls, without those of discovery, whose time does not depend on others.
    var members: [Substring] { calls.map { $0.prefix { $0 != " " } }.filter { !$0.contains("Discovery") } }

    func waitForCall(_ call: String, _ count: Int = 1) async throws {
        try await until("\(count) x call \(call), after \(calls)") { [unowned self] in
            calls.count { $0 == call } >= count
        }
    }

    /// Lets everything that is under way on the bus arrive.
    func settle() async throws {
        let client = try await DBusConnection.open(bus.address, log: Logger("client", to: MemorySink()))
        for _ in 0..<3 {
            _ = try await client.call(
                .call(to: "org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
        }
        client.close()
    }

    /// Log lines that an operator sees.
    var complaints: [String] { sink.records.filter { $0.level >= .notice }.map(\.message) }

    // MARK: Steps

    func scan(_ isOn: Bool = true) {
        central.perform(.scan(isOn ? Self.service : nil))
    }

    /// Scans and connects a tag.
    func connect(_ number: Int = 1) async throws {
        scan()
        central.perform(.connect(Self.address(number)))
        try await wait("connected \(number)")
    }

    /// Waits until BlueZ discovers, on its first adapter, after the pause for a link.
    func scansAgain() async throws {
        try await until("it scans again") { [unowned self] in adapters.last?.first?.isDiscovering == true }
    }

    /// Scans and begins to connect a tag. It goes out of range when BlueZ is asked to: no link is made before it is back.
    func attempt(_ number: Int = 1) async throws {
        onCall = { [unowned self] in if $0 == "Connect \(number)" { tags[number - 1].setInRange(false) } }
        scan()
        central.perform(.connect(Self.address(number)))
        try await waitForCall("Connect \(number)")
        onCall = nil
    }

    func discover(_ number: Int = 1, _ channels: [TagCharacteristic] = TagCharacteristic.allCases) async throws {
        central.perform(
            .discover(Self.service, characteristics: channels.map(\.bluetooth), of: Self.address(number)))
        try await wait("characteristics \(number)")
    }

    /// Scans, connects a tag and subscribes to its notifications.
    func subscribe(_ number: Int = 1) async throws {
        try await connect(number)
        try await discover(number)
        central.perform(.subscribe(TagCharacteristic.notify.bluetooth, of: Self.address(number)))
        try await wait("subscribed \(number)")
    }

    /// Pairs a tag, and waits until it is paired.
    func pair(_ number: Int = 1) async throws {
        central.perform(.pair(Self.address(number)))
        try await wait("paired \(number)")
    }

    /// Disconnects a tag, and waits until it is disconnected.
    func disconnect(_ number: Int = 1) async throws {
        central.perform(.disconnect(Self.address(number)))
        try await wait("disconnected \(number)")
    }

    /// The central's copy of BlueZ's objects.
    var tree: ObjectTree { central.context.connection.tree }

    /// The path of the first tag's notification characteristic, once it is discovered.
    var notifyPath: String? { central.links.peripherals[Self.address(1)]?.characteristics[Self.notify] }

    /// A connection of another program to the bus.
    func otherConnection() async throws -> DBusConnection {
        try await DBusConnection.open(bus.address, log: Logger("other", to: MemorySink()))
    }

    /// Another program connects the first tag and does nothing with it.
    func connectElsewhere(_ other: DBusConnection, _ path: String) async throws {
        _ = try await other.call(.call(to: "org.bluez", path, "org.bluez.Device1", "Connect"))
        try await until("the link") { [unowned self] in tree.devices[path]?.isConnected == true }
    }

    /// Another program acquires the notifications of the first tag: as long as both values exist.
    func acquireElsewhere() async throws -> (DBusConnection, DBusMessage) {
        let path = try #require(notifyPath)
        let other = try await otherConnection()
        let descriptor = try await other.call(
            .call(to: "org.bluez", path, "org.bluez.GattCharacteristic1", "AcquireNotify", [.properties([])]))
        return (other, descriptor)
    }

    /// Another program on the same bus that is notified by the first tag, over a link of its own.
    func otherCentral() async throws -> BlueZCentral {
        let other = BlueZCentral(
            busAddress: bus.address, adapter: .automatic, resetAdapter: false, timing: .quick,
            log: Logger("other", to: MemorySink()))
        var isSubscribed = false
        other.onEvent = { [unowned other] event in
            switch event {
            case .stateChanged(.poweredOn): other.perform(.scan(Self.service))
            case .discovered(Self.address(1), _): other.perform(.connect(Self.address(1)))
            case .connected(let address):
                other.perform(.scan(nil))
                other.perform(.discover(Self.service, characteristics: [Self.notify], of: address))
            case .characteristicsDiscovered(let address, _): other.perform(.subscribe(Self.notify, of: address))
            case .subscribed: isSubscribed = true
            default: break
            }
        }
        await other.start()
        try await until("the other one is notified") { isSubscribed }
        // This central receives the change on a connection of its own.
        try await until("the change is seen") { [unowned self] in
            central.context.device(Self.address(1)).map { tree.hasClient(below: $0.path) } ?? false
        }
        return other
    }

    func write(_ value: [UInt8], _ type: WriteType, to number: Int = 1) {
        central.perform(.write(value, to: TagCharacteristic.command.bluetooth, of: Self.address(number), type))
    }
}

extension TagCharacteristic {
    var bluetooth: BluetoothUUID { CentralBench.uuid(uuid) }
}

extension BlueZOptions {
    /// As ``quick``, but for an attempt, which lasts as long as a test wants.
    static var patient: BlueZOptions {
        var options = BlueZOptions.quick
        options.connectTimeout = .seconds(3600)
        return options
    }
}

extension Timing {
    /// With the pauses shortened, for tests that need the order of things and not their time. What limits a call stays as
    /// it is: a busy machine may need it.
    static var quick: Timing {
        var timing = Timing()
        timing.connectUnheard = .milliseconds(150)
        // On a busy machine, a signal comes this much later than the end of a descriptor or an answer.
        timing.grace = .seconds(1)
        timing.linkEnd = .seconds(5)
        timing.taken = .seconds(1)
        timing.firstPause = .milliseconds(20)
        timing.longestPause = .milliseconds(200)
        return timing
    }
}

// MARK: Words

extension CentralBench {
    /// The number of a tag, or the name of an adapter.
    private static func short(_ path: String) -> String {
        guard let last = path.split(separator: "/").last else { return path }
        if let device = path.split(separator: "/").first(where: { $0.hasPrefix("dev_") }) {
            return String(device.suffix(1)) + (last.hasPrefix("char") ? " " + last : "")
        }
        return String(last)
    }

    private static func number(_ address: BluetoothAddress) -> String { String(address.description.suffix(1)) }

    private static func text(_ event: CentralEvent) -> String {
        switch event {
        case .stateChanged(let state): "state \(state)"
        case .scanning(let isScanning): "scanning \(isScanning)"
        case .connected(let address): "connected \(number(address))"
        case .disconnected(let address, let error): "disconnected \(number(address))" + text(error)
        case .paired(let address): "paired \(number(address))"
        case .pairFailed(let address, let error): "pairFailed \(number(address))" + text(error)
        case .forgotten(let address, let error): "forgotten \(number(address))" + text(error)
        case .characteristicsDiscovered(let address, _): "characteristics \(number(address))"
        case .discoveryFailed(let address, let error): "discoveryFailed \(number(address))" + text(error)
        case .mtuChanged(let address, let mtu): "mtu \(number(address)): \(mtu)"
        case .subscribed(let address, _): "subscribed \(number(address))"
        case .subscribeFailed(let address, _, let error): "subscribeFailed \(number(address))" + text(error)
        case .written(let address): "written \(number(address))"
        case .writeFailed(let address, let error): "writeFailed \(number(address))" + text(error)
        case .adaptersChanged, .faultChanged, .discovered, .remembered, .bonds, .notified: ""
        }
    }

    private static func text(_ error: BluetoothError?) -> String { error.map { " \($0.code)" } ?? "" }
}
