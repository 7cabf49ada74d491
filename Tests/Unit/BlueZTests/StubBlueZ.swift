import DBus
import EventLoop
import Logging
import TestSupport

/// An `org.bluez` with one adapter and nothing behind it, which can take the name from another one.
@LoopActor
final class StubBlueZ {
    let connection: DBusConnection
    /// The unique name of who has registered an agent.
    private(set) var agent: String?
    /// How often the objects have been asked for.
    private(set) var loads = 0
    /// The error that `GetManagedObjects` gets; nil for an answer.
    var refusal: String?
    var isPowered = true
    /// The arguments of `SetDiscoveryFilter`.
    private(set) var filters: [[String: DBusValue]] = []

    init(_ bus: PrivateBus) async throws {
        connection = try await DBusConnection.open(bus.address, log: Logger("stub", to: MemorySink()))
        connection.serve("/") { [unowned self] in answer($0) }
        try await takeName()
    }

    /// Becomes `org.bluez`; an owner before it loses the name in the same moment.
    func takeName() async throws {
        let (allowReplacement, replaceExisting) = (UInt32(1), UInt32(2))
        _ = try await connection.call(
            .call(
                to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                [.string("org.bluez"), .uint32(allowReplacement | replaceExisting)]))
    }

    private func answer(_ call: DBusMethodCall) {
        switch call.message.member {
        case "RegisterAgent":
            agent = call.message.sender
            call.reply()
        case "GetManagedObjects":
            loads += 1
            if let refusal { call.refuse(refusal, "") } else { call.reply([objects]) }
        case "SetDiscoveryFilter":
            filters.append(call.message.arguments.first?.textKeyed ?? [:])
            call.reply()
        default: call.reply()
        }
    }

    private var objects: DBusValue {
        let properties = DBusValue.properties([
            ("Address", .string("00:1A:7D:00:00:01")), ("Powered", .boolean(isPowered)),
            ("Discovering", .boolean(false)),
        ])
        let interfaces = DBusValue.dictionary(
            [(.string("org.bluez.Adapter1"), properties)], key: "s", value: "a{sv}")
        return .dictionary([(.objectPath("/org/bluez/hci0"), interfaces)], key: "o", value: "a{sa{sv}}")
    }
}
