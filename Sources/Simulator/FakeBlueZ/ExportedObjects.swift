import DBus
import EventLoop

/// The objects of one service on the bus, and their signals.
///
/// Changes are collected and signalled together at the end of the turn, or before the next answer or other signal: BlueZ'
/// own library does so, and clients see one PropertiesChanged with several properties because of it.
@LoopActor
final class ExportedObjects {
    /// Whether calls are answered.
    private(set) var isOpen = false

    let faults: BlueZFaults
    /// Called with each call, before anything is done about it.
    var onCall: ((BusCall) -> Void)?

    private let connection: DBusConnection
    private var objects: [any BusObject] = []
    private var unannounced: [any BusObject] = []
    private var changes: [Change] = []
    private var isFlushDue = false

    private struct Change {
        let object: any BusObject
        let interface: String
        var properties: [String]
    }

    init(on connection: DBusConnection, faults: BlueZFaults) {
        self.connection = connection
        self.faults = faults
    }

    /// Begins to answer calls.
    func open() {
        isOpen = true
        connection.serve("/") { [weak self] call in
            guard let self else { return }
            answer(BusCall(call, in: self))
        }
    }

    /// Stops answering calls and releases all objects.
    func close() {
        isOpen = false
        connection.serve("/", handler: nil)
        objects = []
        unannounced = []
        changes = []
    }

    func add(_ object: any BusObject) {
        objects.append(object)
        unannounced.append(object)
        flushLater()
    }

    func remove(_ object: any BusObject) {
        objects.removeAll { $0 === object }
        changes.removeAll { $0.object === object }
        let isUnknown = unannounced.contains { $0 === object }
        unannounced.removeAll { $0 === object }
        guard !isUnknown else { return }
        flush()
        let names = object.interfaces.map(\.name) + StandardInterfaces.ofEveryObject
        signal("/", StandardInterfaces.objectManager, "InterfacesRemoved", .objectPath(object.path), .strings(names))
    }

    /// Notes that a property has another value now, or none.
    func changed(_ object: any BusObject, _ interface: String, _ properties: String...) {
        // A new object is announced with all of its properties.
        guard !unannounced.contains(where: { $0 === object }), objects.contains(where: { $0 === object }) else {
            return
        }
        if let index = changes.firstIndex(where: { $0.object === object && $0.interface == interface }) {
            changes[index].properties += properties.filter { !changes[index].properties.contains($0) }
        } else {
            changes.append(Change(object: object, interface: interface, properties: properties))
        }
        flushLater()
    }

    /// Sends a signal with texts, after all pending ones.
    func signal(_ object: any BusObject, _ interface: String, _ member: String, _ first: String, _ second: String) {
        guard objects.contains(where: { $0 === object }) else { return }
        flush()
        signal(object.path, interface, member, .string(first), .string(second))
    }

    /// Sends all pending signals.
    func flush() {
        let (added, changed) = (unannounced, changes)
        unannounced = []
        changes = []
        for object in added {
            signal(
                "/", StandardInterfaces.objectManager, "InterfacesAdded", .objectPath(object.path),
                StandardInterfaces.description(of: object))
        }
        for change in changed { send(change) }
    }

    private func flushLater() {
        guard !isFlushDue else { return }
        isFlushDue = true
        EventLoop.shared.atEndOfTurn { [weak self] in
            self?.isFlushDue = false
            self?.flush()
        }
    }

    private func send(_ change: Change) {
        guard let interface = change.object.interfaces.first(where: { $0.name == change.interface }) else { return }
        let properties = interface.properties.filter { change.properties.contains($0.name) }
        let present = properties.compactMap { property in property.get().map { (property.name, $0) } }
        let gone = properties.filter { $0.get() == nil }.map(\.name)
        signal(
            change.object.path, StandardInterfaces.properties, "PropertiesChanged", .string(change.interface),
            .properties(present), .strings(gone))
    }

    private func signal(_ path: String, _ interface: String, _ member: String, _ arguments: DBusValue...) {
        connection.send(.signal(path, interface, member, arguments))
    }

    // MARK: Calls

    private func answer(_ call: BusCall) {
        onCall?(call)
        if faults.unanswered.contains(call.member) { return }
        if let refusal = faults.refused[call.member] { return call.refuse(BlueZError(refusal.name, refusal.text)) }
        let object = objects.first { $0.path == call.path }
        if StandardInterfaces.answer(call, object, all: objects) { return }
        guard let object else {
            return call.refuse(
                BlueZError("org.freedesktop.DBus.Error.UnknownObject", "No such object path '\(call.path)'"))
        }
        let method = object.interfaces.first { $0.name == call.interface }?.methods.first {
            $0.name == call.member && $0.takes == call.signature
        }
        guard let method else {
            return call.refuse(
                BlueZError(
                    "org.freedesktop.DBus.Error.UnknownMethod",
                    "Method \"\(call.member)\" with signature \"\(call.signature)\" on interface "
                        + "\"\(call.interface)\" doesn't exist"))
        }
        method.body(call)
    }
}
