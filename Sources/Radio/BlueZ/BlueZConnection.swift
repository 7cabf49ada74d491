import DBus
import EventLoop
import Logging
import Time

/// The connection to BlueZ: the bus, the owner of the name `org.bluez`, and a copy of its objects.
///
/// It comes back by itself when the bus or bluetoothd has ended.
@LoopActor
final class BlueZConnection {
    /// A change. ``tree`` contains it already.
    enum Event {
        /// The bus or the service cannot be used; it is tried again. `isRefused`: access is denied.
        case unusable(isRefused: Bool)
        /// bluetoothd has this unique name now. Its objects are being read.
        case appeared(owner: String, DBusConnection)
        /// bluetoothd or the bus has gone, with all objects. `isAbsent`: the bus says that no bluetoothd runs;
        /// `wasRunning`: one did before.
        case gone(isAbsent: Bool, wasRunning: Bool)
        /// All objects were read.
        case loaded
        /// An object has these interfaces in addition.
        case added(path: String, interfaces: Set<String>)
        /// An object has lost these interfaces; `device`: what it was.
        case removed(path: String, interfaces: [String], device: ObjectTree.DeviceObject?)
        /// Properties of an object have changed.
        case changed(path: String, interface: String, values: [String: DBusValue])
        /// The link with a device has ended, for a reason such as `org.bluez.Reason.Timeout`. ``changed(path:interface:values:)``
        /// follows.
        case linkEnded(path: String, reason: String)
    }

    /// The event handler.
    var onEvent: (@LoopActor (Event) -> Void)?
    /// A copy of BlueZ's objects.
    private(set) var tree = ObjectTree()

    private let address: String
    private let timing: Timing
    /// The timeout of calls without one of their own.
    var callLimit: Duration
    private let log: Logger
    private var isClosed = false
    private var bus: DBusConnection?
    private var subscriptions: [DBusSubscription] = []
    private(set) lazy var opening = RetryTimer(timing) { [unowned self] in
        EventLoop.shared.begin { await self.open() }
    }
    private var owner: String?
    private(set) lazy var loading = RetryTimer(timing) { [unowned self] in load() }
    /// Whether ``tree`` contains BlueZ's objects. Signals that arrive earlier are about objects that are not read yet.
    private(set) var isLoaded = false
    /// The receivers of values by signals, by the characteristic's path.
    private(set) var listeners: [String: @LoopActor ([UInt8]) -> Void] = [:]

    /// - Parameters:
    ///   - address: the address of BlueZ's bus.
    ///   - timing: the timeouts and pauses.
    ///   - log: the logger.
    init(to address: String, _ timing: Timing, log: Logger) {
        self.address = address
        self.timing = timing
        self.log = log
        callLimit = timing.call
    }

    // MARK: Calls

    /// Calls a method of BlueZ. Without a bus, the call fails like one on a lost bus.
    ///
    /// - Parameters:
    ///   - message: the call.
    ///   - limit: timeout of the response; nil for the default.
    ///   - completion: called once, in a later turn.
    func call(
        _ message: DBusMessage, within limit: Duration? = nil,
        completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        guard let bus else {
            EventLoop.shared.atEndOfTurn { completion(.failure(.disconnected)) }
            return
        }
        bus.call(message, within: limit ?? callLimit, completion: completion)
    }

    /// Calls a method of an object of BlueZ, see ``call(_:within:completion:)``.
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [],
        within limit: Duration? = nil, completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        call(
            .call(to: BlueZNames.service, path, interface, member, arguments), within: limit, completion: completion)
    }

    /// Sets a property of an object that is true or false.
    func set(
        _ property: String, of path: String, _ interface: String, to isTrue: Bool,
        completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        call(
            path, BlueZNames.properties, "Set",
            [.string(interface), .string(property), .variant(.boolean(isTrue))], completion: completion)
    }

    /// Delivers each value of a characteristic that BlueZ signals, until ``stopListening(to:)``.
    func listen(to characteristic: String, handler: @escaping @LoopActor ([UInt8]) -> Void) {
        listeners[characteristic] = handler
    }

    /// Ends the delivery of values; without effect if there is none.
    func stopListening(to characteristic: String) {
        listeners[characteristic] = nil
    }

    /// Marks a device as connected, see ``ObjectTree/setConnected(_:)``.
    func setConnected(_ path: String) {
        tree.setConnected(path)
    }

    // MARK: The bus

    /// Connects to the bus, and reads the objects when bluetoothd runs.
    func open() async {
        do throws(DBusError) {
            let bus = try await DBusConnection.open(address, log: log)
            guard !isClosed else { return bus.close() }
            self.bus = bus
            openingError = nil
            opening.reset()
            bus.onDisconnect = { [weak self] in self?.busLost() }
            follow(bus)
        } catch {
            guard !isClosed else { return }
            if opening.isFresh {
                log.error("cannot reach the system bus", [(.endpoint, address), (.error, error.description)])
            }
            openingError = error
            onEvent?(.unusable(isRefused: error.isRefusedAccess))
            opening.failed()
        }
    }

    /// Handles no further change. Calls are possible until ``close()``.
    func stop() {
        isClosed = true
        opening.stop()
        loading.stop()
    }

    /// Closes the bus, which ends the discovery of this client and removes its agent.
    func close() {
        bus?.close()
        bus = nil
        subscriptions = []
    }

    /// Whether BlueZ can pass descriptors. Otherwise it answers a request for one with nothing at all.
    var passesDescriptors: Bool { bus?.passesDescriptors ?? true }

    /// Why the bus could not be reached; nil if it was, and before the first attempt.
    private(set) var openingError: DBusError?

    /// Whether bluetoothd runs.
    var isServed: Bool { owner != nil }

    /// Whether there is a bus.
    var isOpen: Bool { bus != nil }

    private func busLost() {
        log.warning("the system bus has gone", [(.endpoint, address)])
        subscriptions = []
        bus = nil
        serviceLost(isAbsent: false)
        if !isClosed { opening.failed() }
    }

    /// Adds the match rules before the objects are read, so that no change is missed.
    private func follow(_ bus: DBusConnection) {
        subscriptions = [
            bus.subscribe(
                to: DBusMatchRule(
                    sender: BlueZNames.service, interface: BlueZNames.objectManager, member: "InterfacesAdded")
            ) { [unowned self] in interfacesAdded($0) },
            bus.subscribe(
                to: DBusMatchRule(
                    sender: BlueZNames.service, interface: BlueZNames.objectManager, member: "InterfacesRemoved")
            ) { [unowned self] in interfacesRemoved($0) },
            bus.subscribe(
                to: DBusMatchRule(
                    sender: BlueZNames.service, interface: BlueZNames.properties, member: "PropertiesChanged",
                    pathNamespace: BlueZNames.tree)
            ) { [unowned self] in propertiesChanged($0) },
            bus.subscribe(
                to: DBusMatchRule(
                    sender: BlueZNames.service, interface: BlueZNames.device, member: "Disconnected",
                    pathNamespace: BlueZNames.tree)
            ) { [unowned self] in linkEnded($0) },
            // Weak: the first answer may come after the end of this connection.
            bus.watchName(BlueZNames.service) { [weak self] in self?.ownerChanged($0) },
        ]
    }

    // MARK: The service

    private func ownerChanged(_ owner: String?) {
        guard !isClosed else { return }
        guard let owner else { return serviceLost(isAbsent: true) }
        guard owner != self.owner else { return }
        // A new bluetoothd may replace the old one at once. The state of the old one is lost nevertheless.
        if self.owner != nil { serviceLost(isAbsent: false) }
        self.owner = owner
        if let bus { onEvent?(.appeared(owner: owner, bus)) }
        load()
    }

    private func serviceLost(isAbsent: Bool) {
        let wasRunning = owner != nil
        owner = nil
        isLoaded = false
        loading.reset()
        tree = ObjectTree()
        onEvent?(.gone(isAbsent: isAbsent, wasRunning: wasRunning))
    }

    private func load() {
        let asked = owner
        call(BlueZNames.root, BlueZNames.objectManager, "GetManagedObjects") { [weak self] result in
            guard let self, asked == owner, !isClosed else { return }
            switch result {
            case .success(let message): loaded(message)
            case .failure(let error): loadFailed(error)
            }
        }
    }

    private func loadFailed(_ error: DBusError) {
        if loading.isFresh { log.error("reading the objects of BlueZ failed", [(.error, error.description)]) }
        onEvent?(.unusable(isRefused: error.isRefusedAccess))
        loading.failed()
    }

    /// Reads one object at a time: all values of many objects at once would fragment the heap.
    private func loaded(_ message: DBusMessage) {
        loading.reset()
        isLoaded = true
        var reader = DBusReader(message)
        if var objects = reader.inside() {
            while var object = objects.inside(), let path = object.next()?.text,
                let interfaces = object.next()?.textKeyed
            {
                for (name, values) in interfaces { tree.apply(values.textKeyed ?? [:], to: path, name) }
                objects.skip()
            }
        }
        onEvent?(.loaded)
    }

    // MARK: Signals about its objects

    private func interfacesAdded(_ message: DBusMessage) {
        let arguments = message.arguments
        guard isLoaded, arguments.count == 2, let path = arguments[0].text, let interfaces = arguments[1].textKeyed
        else { return }
        for (name, values) in interfaces { tree.apply(values.textKeyed ?? [:], to: path, name) }
        onEvent?(.added(path: path, interfaces: Set(interfaces.keys)))
    }

    private func interfacesRemoved(_ message: DBusMessage) {
        let arguments = message.arguments
        guard isLoaded, arguments.count == 2, let path = arguments[0].text, let names = arguments[1].textArray
        else { return }
        let device = tree.devices[path]
        tree.remove(names, of: path)
        onEvent?(.removed(path: path, interfaces: names, device: device))
    }

    private func linkEnded(_ message: DBusMessage) {
        guard isLoaded, let reason = message.arguments.first?.text else { return }
        onEvent?(.linkEnded(path: message.path, reason: reason))
    }

    private func propertiesChanged(_ message: DBusMessage) {
        guard isLoaded else { return }
        if deliverValue(in: message) { return }
        let arguments = message.arguments
        guard arguments.count == 3, let interface = arguments[0].text, let values = arguments[1].textKeyed
        else { return }
        let path = message.path
        // The object was removed, or left out because of a bound.
        guard tree.contains(path, interface) else { return }
        tree.apply(values, to: path, interface)
        tree.invalidate(arguments[2].textArray ?? [], of: path, interface)
        onEvent?(.changed(path: path, interface: interface, values: values))
    }

    /// Delivers a value of a characteristic directly from its message: with `StartNotify`, every gesture takes this path.
    ///
    /// - Returns: false if the message contains no value, or nobody listens to the characteristic.
    private func deliverValue(in message: DBusMessage) -> Bool {
        guard !listeners.isEmpty else { return false }
        var reader = DBusReader(message)
        guard reader.isString("org.bluez.GattCharacteristic1"), let deliver = listeners[message.path],
            let value = Self.value(after: &reader)
        else { return false }
        deliver(value)
        return true
    }

    private static func value(after reader: inout DBusReader) -> [UInt8]? {
        reader.skip()
        guard var entries = reader.inside() else { return nil }
        while var entry = entries.inside() {
            if entry.isString("Value") {
                entry.skip()
                var variant = entry.inside()
                return variant?.bytes()
            }
            entries.skip()
        }
        return nil
    }
}

extension DBusError {
    /// Whether the bus or a service on it denies access.
    fileprivate var isRefusedAccess: Bool { name.hasSuffix(".AccessDenied") || name.hasSuffix(".AuthFailed") }
}
