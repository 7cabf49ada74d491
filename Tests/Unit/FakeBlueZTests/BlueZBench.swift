import DBus
import EventLoop
import FakeBlueZ
import JacquardProtocol
import Logging
import Simulator
import TagFirmware
import TestSupport
import Testing

/// A fake BlueZ with two tags on a private bus, and a client that writes down every signal.
@LoopActor
final class BlueZBench {
    static let adapter = "/org/bluez/hci0"
    static let first = adapter + "/dev_F0_00_00_00_00_01"

    let bus: PrivateBus
    let tags: [SimulatedTag]
    let blueZ: BlueZService
    let client: DBusConnection
    /// The signals received by the client, such as `added hci0/dev_F0_00_00_00_00_01` or `dev_… Connected=true`.
    private(set) var signals: [String] = []
    /// The successive owners of `org.bluez`; nil while it has none.
    private(set) var owners: [String?] = []
    private var subscriptions: [DBusSubscription] = []

    init(_ options: BlueZOptions = .quick, tagOptions: TagOptions = TagOptions()) async throws {
        bus = try await PrivateBus()
        let serials = ["0001", "0002"].compactMap { PairingSerial($0) }
        tags = serials.enumerated().map { index, serial in
            var tagOptions = tagOptions
            tagOptions.supervisionTimeout = .milliseconds(50)
            let firmware = Firmware(FirmwareIdentity(serial: serial), gear: SimulatedGear(word: "jacket"))
            return SimulatedTag(firmware, address: "F0:00:00:00:00:0\(index + 1)", options: tagOptions)
        }
        blueZ = BlueZService(
            bus: bus.address, peripherals: tags, options: options, log: Logger("fake", to: MemorySink()))
        client = try await DBusConnection.open(bus.address, log: Logger("client", to: MemorySink()))
        subscriptions.append(client.watchName("org.bluez") { [unowned self] in owners.append($0) })
        try await blueZ.start()
        listen()
        _ = try await properties(of: Self.adapter, "org.bluez.Adapter1")
        try await until("the name is known") { [unowned self] in owners.last??.isEmpty == false }
    }

    private func listen() {
        let manager = "org.freedesktop.DBus.ObjectManager"
        let rules = [
            ("org.freedesktop.DBus.Properties", "PropertiesChanged"), (manager, "InterfacesAdded"),
            (manager, "InterfacesRemoved"), ("org.bluez.Device1", "Disconnected"),
        ]
        for (interface, member) in rules {
            let rule = DBusMatchRule(sender: "org.bluez", interface: interface, member: member)
            subscriptions.append(client.subscribe(to: rule) { [unowned self] in note($0) })
        }
    }

    private func note(_ message: DBusMessage) {
        let arguments = message.arguments
        switch message.member {
        case "InterfacesAdded": signals.append("added " + Self.short(arguments[0].text))
        case "InterfacesRemoved": signals.append("removed " + Self.short(arguments[0].text))
        case "Disconnected": signals.append(Self.short(message.path) + " ended " + (arguments[0].text ?? ""))
        default:
            let changed = (arguments[1].textKeyed ?? [:]).map { "\($0.key)=\(Self.text($0.value))" }
            let gone = (arguments[2].textArray ?? []).map { "no \($0)" }
            signals.append(Self.short(message.path) + " " + (changed + gone).sorted().joined(separator: " "))
        }
    }

    /// The last part of a path.
    private static func short(_ path: String?) -> String {
        path?.split(separator: "/").last.map(String.init) ?? ""
    }

    private static func text(_ value: DBusValue) -> String {
        if let flag = value.flag { return "\(flag)" }
        if let text = value.text { return text }
        return value.byteArray.map { "\($0)" } ?? value.integer.map { "\($0)" } ?? "…"
    }

    func forget() {
        signals = []
    }

    // MARK: Calls

    @discardableResult
    func call(_ path: String, _ interface: String, _ member: String, _ arguments: DBusValue...) async throws
        -> [DBusValue]
    {
        try await client.call(.call(to: "org.bluez", path, interface, member, arguments)).arguments
    }

    @discardableResult
    func device(_ member: String, at path: String = BlueZBench.first) async throws -> [DBusValue] {
        try await call(path, "org.bluez.Device1", member)
    }

    @discardableResult
    func adapter(_ member: String, _ arguments: DBusValue...) async throws -> [DBusValue] {
        try await client.call(.call(to: "org.bluez", Self.adapter, "org.bluez.Adapter1", member, arguments)).arguments
    }

    /// The error of a call that is to fail, as `name: text`.
    func failure(_ body: () async throws -> [DBusValue]) async -> String {
        do {
            return "no error but \(try await body())"
        } catch {
            return (error as? DBusError)?.description ?? "\(error)"
        }
    }

    /// Calls without waiting for the answer.
    ///
    /// - Returns: what will hold the error of the call, which is to fail, as `name: text`.
    func begin(
        _ member: String, at path: String = BlueZBench.first, _ interface: String = "org.bluez.Device1",
        _ arguments: DBusValue...
    ) -> PendingFailure {
        let pending = PendingFailure()
        client.call(.call(to: "org.bluez", path, interface, member, arguments)) { result in
            switch result {
            case .success: pending.text = "no error"
            case .failure(let error): pending.text = error.description
            }
        }
        return pending
    }

    func properties(of path: String, _ interface: String) async throws -> [String: DBusValue] {
        try await call(path, "org.freedesktop.DBus.Properties", "GetAll", .string(interface)).first?.textKeyed ?? [:]
    }

    func set(_ path: String, _ interface: String, _ name: String, _ value: DBusValue) async throws
        -> [DBusValue]
    {
        try await call(
            path, "org.freedesktop.DBus.Properties", "Set", .string(interface), .string(name), .variant(value))
    }

    /// Paths of all objects.
    func objects() async throws -> [String] {
        let reply = try await call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        return (reply.first?.textKeyed ?? [:]).keys.sorted()
    }

    // MARK: Steps

    /// Discovers until both tags are on the bus.
    func discover() async throws {
        try await adapter("SetDiscoveryFilter", .properties([("DuplicateData", .boolean(true))]))
        try await adapter("StartDiscovery")
        try await until("both tags are discovered") { [unowned self] in
            signals.filter { $0.hasPrefix("added dev_") }.count == 2
        }
        try await adapter("StopDiscovery")
    }

    /// Discovers, connects the first tag and waits for its services.
    func connect() async throws {
        try await discover()
        try await reconnect()
    }

    func reconnect() async throws {
        forget()
        try await device("Connect")
        try await wait("dev_F0_00_00_00_00_01 ServicesResolved=true")
    }

    func wait(_ signal: String) async throws {
        try await until(signal) { [unowned self] in signals.contains(signal) }
    }

    /// Path of a characteristic of the first tag.
    static func path(_ channel: TagCharacteristic) -> String {
        let numbers: [TagCharacteristic: String] = [
            .command: "char000b", .response: "char000d", .notify: "char0010", .rawData: "char0013",
        ]
        return first + "/service000a/" + (numbers[channel] ?? "")
    }

    @discardableResult
    func characteristic(
        _ channel: TagCharacteristic, _ member: String, _ arguments: DBusValue...
    ) async throws -> [DBusValue] {
        try await client.call(
            .call(
                to: "org.bluez", Self.path(channel), "org.bluez.GattCharacteristic1", member, arguments)
        ).arguments
    }

    /// Writes one value on `command`.
    @discardableResult
    func write(_ value: [UInt8], type: String) async throws -> [DBusValue] {
        try await characteristic(.command, "WriteValue", .bytes(value), .properties([("type", .string(type))]))
    }

    /// Writes a whole packet on `command`.
    func write(_ request: Request) async throws {
        for fragment in try Fragmenter.fragments(of: request.encoded(id: 1)) {
            try await write(fragment, type: "request")
        }
    }
}

/// The error of a call that is under way.
@LoopActor
final class PendingFailure {
    fileprivate(set) var text: String?
}
