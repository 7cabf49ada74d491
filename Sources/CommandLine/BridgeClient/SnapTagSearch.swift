import BlueZ
import DBus
import EventLoop
import JacquardProtocol
import Logging
import Time

/// Looks for tags of 2017 with this machine's adapter while a scan runs. The bridge does not look for them, because it can't
/// use them.
///
/// Every error ends the search without a word: it is an extra, and the bridge may run on another machine.
@LoopActor
struct SnapTagSearch {
    private let connection: DBusConnection
    private let adapter: String

    private static let bluez = "org.bluez"
    private static let patience = Duration.seconds(2)

    /// Starts a discovery of its own; nil without a bus, bluetoothd or a powered adapter.
    static func start(busAddress: String, log: Logger) async -> SnapTagSearch? {
        guard let connection = try? await DBusConnection.open(busAddress, log: log) else { return nil }
        do throws(DBusError) {
            let owner = try await connection.call(
                .call(
                    to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
                    [.string(bluez)]), within: patience)
            // A call would start the service.
            guard owner.arguments.first?.flag == true else {
                connection.close()
                return nil
            }
            let objects = try await Self.objects(connection)
            let adapters = (objects?.textKeyed ?? [:]).filter {
                $0.value.textKeyed?["org.bluez.Adapter1"]?.textKeyed?["Powered"]?.flag == true
            }
            guard let adapter = adapters.keys.min() else {
                connection.close()
                return nil
            }
            let search = SnapTagSearch(connection: connection, adapter: adapter)
            let filter = DBusValue.properties([
                ("UUIDs", .strings([SnapTag.serviceUUID])), ("Transport", .string("le")),
            ])
            try await search.call("SetDiscoveryFilter", [filter])
            try await search.call("StartDiscovery")
            return search
        } catch {
            connection.close()
            return nil
        }
    }

    /// Ends the discovery, and returns the addresses of the tags of 2017 that BlueZ knows.
    func finish() async -> [String] {
        let objects = try? await Self.objects(connection)
        _ = try? await call("StopDiscovery")
        connection.close()
        return (objects ?? nil)?.addresses(ofDevicesOffering: SnapTag.serviceUUID) ?? []
    }

    private static func objects(_ connection: DBusConnection) async throws(DBusError) -> DBusValue? {
        try await connection.call(
            .call(to: bluez, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"), within: patience
        ).arguments.first
    }

    @discardableResult
    private func call(_ member: String, _ arguments: [DBusValue] = []) async throws(DBusError) -> DBusMessage {
        try await connection.call(
            .call(to: Self.bluez, adapter, "org.bluez.Adapter1", member, arguments), within: Self.patience)
    }
}
