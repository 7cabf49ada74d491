import DBus
import EventLoop
import Glibc
import Logging

/// What the bus tells about BlueZ.
struct BluetoothFacts: Sendable {
    /// An adapter as BlueZ has it.
    struct Adapter: Hashable, Sendable {
        /// Name of the kernel, such as `hci0`.
        let name: String
        /// Its address.
        let address: String
        /// Whether it is switched on.
        let isPowered: Bool
    }

    /// Why there is no connection to the bus; nil if there is one.
    var busError: DBusError?
    /// Whether somebody owns the name of BlueZ.
    var isServiceRunning = false
    /// Whether bluetoothd is on this machine's disk.
    var isServiceInstalled = false
    /// Why BlueZ has not told its objects; nil if it has, or was not asked.
    var callError: DBusError?
    /// The adapters, by name.
    var adapters: [Adapter] = []

    /// Whether BlueZ has answered.
    var isAnswered: Bool { busError == nil && isServiceRunning && callError == nil }
}

/// Asks the bus and BlueZ.
struct BluetoothProbe: Sendable {
    /// Of the bus that BlueZ is on.
    let busAddress: String
    /// For what the library reports.
    let log: Logger

    private static let bus = "org.freedesktop.DBus"
    private static let bluez = "org.bluez"
    private static let patience = Duration.seconds(5)
    /// Where Debian 12 and older releases have it.
    private static let programs = ["/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd"]

    /// Gathers the facts; what cannot be asked is left as it is.
    @LoopActor
    func facts() async -> BluetoothFacts {
        var facts = BluetoothFacts()
        facts.isServiceInstalled = Self.programs.contains { access($0, F_OK) == 0 }
        do throws(DBusError) {
            let connection = try await DBusConnection.open(busAddress, log: log)
            await ask(connection, &facts)
            connection.close()
        } catch {
            facts.busError = error
        }
        return facts
    }

    @LoopActor
    private func ask(_ connection: DBusConnection, _ facts: inout BluetoothFacts) async {
        do throws(DBusError) {
            let owner = try await connection.call(
                .call(to: Self.bus, "/org/freedesktop/DBus", Self.bus, "NameHasOwner", [.string(Self.bluez)]),
                within: Self.patience)
            facts.isServiceRunning = owner.arguments.first?.flag == true
            // A call would start the service, and this is to change nothing.
            guard facts.isServiceRunning else { return }
            let objects = try await connection.call(
                .call(to: Self.bluez, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"),
                within: Self.patience)
            facts.adapters = Self.adapters(objects.arguments.first)
        } catch {
            facts.callError = error
        }
    }

    private static func adapters(_ objects: DBusValue?) -> [BluetoothFacts.Adapter] {
        let found = (objects?.textKeyed ?? [:]).compactMap { path, interfaces -> BluetoothFacts.Adapter? in
            guard let values = interfaces.textKeyed?["org.bluez.Adapter1"]?.textKeyed else { return nil }
            return BluetoothFacts.Adapter(
                name: String(path.split(separator: "/").last ?? ""), address: values["Address"]?.text ?? "",
                isPowered: values["Powered"]?.flag ?? false)
        }
        return found.sorted { $0.name < $1.name }
    }
}
