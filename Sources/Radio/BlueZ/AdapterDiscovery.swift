import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// The discovery of one client: scans, and what is received. It pauses during connection attempts, because controllers
/// cannot do both.
@LoopActor
final class AdapterDiscovery {
    /// Called with each device that was received, or that another program has connected.
    var onHeard: ((BluetoothAddress) -> Void)?
    /// Called when ``refusals`` has another ``DiscoveryRefusals/error``.
    var onRefusal: (() -> Void)?

    private let context: CentralContext
    private let reset: AdapterReset
    private(set) var session = Discovery()
    private(set) var filter = SearchFilter()
    /// The service whose devices are reported even without a scan.
    private var watched: BluetoothUUID?
    /// The bonded devices, as last reported.
    private var publishedBonds: Set<BluetoothAddress> = []
    private(set) lazy var starting = RetryTimer(context.timing) { [unowned self] in update() }
    private(set) var refusals = DiscoveryRefusals()
    private(set) var watch: DiscoveryWatch
    private(set) lazy var watchTimer = LoopTimer { [unowned self] in check() }

    /// - Parameters:
    ///   - context: what the central's parts share.
    ///   - reset: switches an adapter off and on that receives nothing.
    init(_ context: CentralContext, _ reset: AdapterReset) {
        self.context = context
        self.reset = reset
        watch = DiscoveryWatch(silence: context.timing.silence, now: .now)
    }

    /// Scans for the devices of a service; nil ends the scan.
    func scan(for service: BluetoothUUID?) {
        session.requested = service
        update()
    }

    /// Reports the devices of a service even without a scan; nil ends that.
    func watch(for service: BluetoothUUID?) {
        watched = service
        publishDevices()
    }

    /// Makes the next call that discovery needs.
    func update() {
        if context.state == .poweredOn, !context.isStopped, !starting.isArmed, let adapter = context.adapter {
            switch session.step(isPaused: context.isAttempting) {
            case .start(let service): start(service, on: adapter)
            case .stop: stop(on: adapter)
            case nil: break
            }
        }
        reportScanning()
    }

    /// Forgets the session and all pending calls: the adapter is another one, or unusable.
    func adapterLost() {
        session.reset()
        starting.reset()
        noteRefusals { $0.end() }
    }

    /// Handles the end of bluetoothd. Call it before ``adapterLost()``.
    func serviceLost() {
        guard filter.serviceEnded(at: .now) else { return }
        context.log.warning(
            "bluetoothd has ended twice at the start of discovery; discovering without the filter by service")
    }

    /// Makes no further call.
    func stop() {
        starting.stop()
        watchTimer.disarm()
    }

    /// Handles the adapter's property `Discovering`.
    func adapterReports(isDiscovering: Bool) {
        // This client has not stopped it, for example after a reset of the controller.
        guard session.report(isDiscovering) else { return }
        context.log.debug("BlueZ has ended discovery")
        starting.failed()
    }

    /// Reports that the scan has started or stopped.
    func reportScanning() {
        if let isScanning = session.scanningChange(isPaused: context.isAttempting) {
            context.report(.scanning(isScanning))
        }
    }

    // MARK: Calls

    private func start(_ service: BluetoothUUID, on adapter: String) {
        let common: [(String, DBusValue)] = [("Transport", .string("le")), ("DuplicateData", .boolean(true))]
        let properties = filter.isUsed ? [("UUIDs", .strings([service.description]))] + common : common
        change(adapter, "SetDiscoveryFilter", [.properties(properties)]) { discovery, error in
            if let error { return discovery.refused("SetDiscoveryFilter", error) }
            discovery.filter.begins(at: .now)
            discovery.change(adapter, "StartDiscovery") { discovery, error in
                if let error, !discovery.isRunning(error, on: adapter) {
                    return discovery.refused("StartDiscovery", error)
                }
                discovery.hasBegun(service)
            }
        }
    }

    /// Whether a refusal to start discovery means that this client's session runs: BlueZ has not ended the previous one.
    ///
    /// While the adapter does not report `Discovering`, `InProgress` is a failure: the kernel still discovers for a bluetoothd that
    /// has crashed, or another client's start is pending. bluetoothd drops the client then. Source: BlueZ 5.66, `start_discovery`
    /// and `start_discovery_complete` in `src/adapter.c`.
    private func isRunning(_ error: DBusError, on adapter: String) -> Bool {
        error.name == "org.bluez.Error.InProgress" && context.connection.tree.adapters[adapter]?.isDiscovering == true
    }

    private func stop(on adapter: String) {
        change(adapter, "StopDiscovery") { discovery, error in
            if let error {
                // Ignored: if the session still runs, the next start returns `InProgress`.
                discovery.context.log.debug("stopping discovery failed", [(.error, error.description)])
            }
            discovery.session.stopped()
            discovery.filter.stopped()
            discovery.watch.paused(at: .now)
            discovery.watchTimer.disarm()
            discovery.update()
        }
    }

    private func change(
        _ adapter: String, _ member: String, _ arguments: [DBusValue] = [],
        then next: @escaping @LoopActor (AdapterDiscovery, DBusError?) -> Void
    ) {
        session.begin()
        let generation = session.generation
        context.connection.call(adapter, BlueZNames.adapter, member, arguments) { [weak self] result in
            guard let self, generation == session.generation else { return }
            guard case .failure(let error) = result else { return next(self, nil) }
            // A lost bus is reported separately and resets discovery.
            if error.code != .disconnected { next(self, error) }
        }
    }

    private func hasBegun(_ service: BluetoothUUID) {
        session.started(service)
        starting.reset()
        noteRefusals { $0.end() }
        watch.began(at: .now)
        watchTimer.arm(at: watch.deadline)
        update()
    }

    private func refused(_ member: String, _ error: DBusError) {
        session.refused()
        if starting.isFresh {
            context.log.warning("starting discovery failed", [(.member, member), (.error, error.description)])
        }
        starting.failed()
        reportScanning()
        if noteRefusals({ $0.refused(error.description) }) == .resetAdapter, reset.isPossible { reset.begin() }
    }

    /// Changes ``refusals``, and reports another error.
    @discardableResult
    private func noteRefusals<Value>(_ change: (inout DiscoveryRefusals) -> Value) -> Value {
        let before = refusals.error
        defer { if refusals.error != before { onRefusal?() } }
        return change(&refusals)
    }

    // MARK: Silence

    private func check() {
        guard session.running != nil, !context.isStopped else { return }
        let isFresh = watch.isFresh
        switch watch.step(at: .now, mayReset: reset.isPossible) {
        case .restart:
            if isFresh { context.log.info("nothing received, restarting discovery") }
            session.restart()
            update()
        case .resetAdapter: reset.begin()
        case nil: break
        }
        watchTimer.arm(at: watch.deadline)
    }

    // MARK: Being heard

    /// Reports all devices known to BlueZ.
    func publishDevices() {
        for path in context.connection.tree.devices.keys.sorted() { heard(path) }
    }

    /// Reports the bonded devices if they have changed.
    func publishBonds() {
        let adapter = context.adapter
        let bonded = Set(
            context.connection.tree.devices.values
                .filter { $0.isPaired && $0.adapter == adapter && adapter != nil }.compactMap(\.address))
        guard bonded != publishedBonds else { return }
        publishedBonds = bonded
        context.report(.bonds(bonded))
    }

    /// Handles a device that was heard, or that BlueZ knows.
    func heard(_ path: String) {
        guard let device = context.connection.tree.devices[path], device.adapter == context.adapter,
            let address = device.address
        else { return }
        guard device.isInRange else {
            if isWatched(device) { context.report(.remembered(address, device.advertisement)) }
            return
        }
        if device.rssi != nil {
            watch.heard(at: .now)
            if session.running != nil { filter.survived() }
        }
        // Devices found for other clients of BlueZ are reported, too.
        if isWatched(device) { context.report(.discovered(address, device.advertisement)) }
        onHeard?(address)
    }

    private func isWatched(_ device: ObjectTree.DeviceObject) -> Bool {
        [session.requested, watched].contains { $0.map(device.services.contains) ?? false }
    }
}
