import BlueZ
import DBus
import EventLoop
import JacquardProtocol
import Logging

/// The state of BlueZ on the bus.
struct BluetoothFacts: Sendable {
    /// An adapter of BlueZ.
    struct Adapter: Hashable, Sendable {
        /// The name in the kernel, such as `hci0`.
        let name: String
        /// Its address.
        let address: String
        /// Whether it is powered.
        let isPowered: Bool
    }

    /// Why the connection to the bus failed; nil if it did not.
    var busError: DBusError?
    /// Whether the bus name `org.bluez` has an owner.
    var isServiceRunning = false
    /// Why BlueZ did not return its objects; nil if it did, or was not called.
    var callError: DBusError?
    /// The adapters, by name.
    var adapters: [Adapter] = []

    /// Whether each device has a bond with this host, by address; nil if BlueZ did not answer.
    var bonds: [String: Bool]?

    /// The addresses of tags of 2017 that BlueZ knows.
    var snapTags: [String] = []

    /// Whether BlueZ answered.
    var isAnswered: Bool { busError == nil && isServiceRunning && callError == nil }
}

/// Collects facts from the bus and from BlueZ.
struct BluetoothProbe: Sendable {
    /// The address of the bus with BlueZ.
    let busAddress: String
    /// For log records of the library.
    let log: Logger
    /// The time limit of each call.
    var patience = Duration.seconds(5)

    private static let bus = "org.freedesktop.DBus"
    private static let bluez = "org.bluez"

    /// Returns the facts; those that are not available keep their defaults.
    @LoopActor
    func facts() async -> BluetoothFacts {
        var facts = BluetoothFacts()
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
                within: patience)
            facts.isServiceRunning = owner.arguments.first?.flag == true
            // A call would start the service, but a check must not change anything.
            guard facts.isServiceRunning else { return }
            let objects = try await connection.call(
                .call(to: Self.bluez, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"),
                within: patience)
            facts.adapters = Self.adapters(objects.arguments.first)
            facts.bonds = Self.bonds(objects.arguments.first)
            facts.snapTags =
                objects.arguments.first?.addresses(ofDevicesOffering: SnapTag.serviceUUID) ?? []
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

    private static func bonds(_ objects: DBusValue?) -> [String: Bool] {
        let found = (objects?.textKeyed ?? [:]).values.compactMap { interfaces -> (String, Bool)? in
            guard let values = interfaces.textKeyed?["org.bluez.Device1"]?.textKeyed,
                let address = values["Address"]?.text
            else { return nil }
            return (address, values["Paired"]?.flag ?? false)
        }
        // A device that two adapters know has a bond if one of them has it.
        return Dictionary(found) { $0 || $1 }
    }
}
