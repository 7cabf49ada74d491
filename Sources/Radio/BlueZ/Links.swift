import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// The links with devices: made one at a time, and what the end of earlier ones tells about a device.
@LoopActor
final class Links {
    /// Called when an attempt to connect has begun or ended.
    var onAttemptChange: (@LoopActor () -> Void)?

    let context: CentralContext
    private let pairing: DevicePairing
    let sessions: NotifySessions
    private(set) var peripherals: [BluetoothAddress: Peripheral] = [:]
    private(set) var queue: ConnectQueue
    /// The device whose `Connect` is in progress. One at a time: BlueZ executes them one after another, and a second
    /// one would only time out in its queue.
    private(set) var attempt: Peripheral? {
        didSet {
            oldValue?.isAttempted = false
            attempt?.isAttempted = true
            context.isAttempting = attempt != nil
        }
    }
    private(set) lazy var connectTimer = LoopTimer { [unowned self] in connectNext() }
    /// Ends ``attempt`` when its time is over and other devices wait.
    private(set) lazy var contentionTimer = LoopTimer { [unowned self] in connectNext() }
    private var foreignLinks = ForeignLinks()
    /// The links of an earlier run. Set before the start.
    var former = FormerLinks()
    /// The adapters that other radios of this program use. Set before the start.
    var otherRadios: [BlueZCentral.AdapterChoice] = []
    private(set) lazy var formerTimer = LoopTimer { [unowned self] in useFormerLinks() }
    /// The devices whose link may still exist after ``leave(within:)``.
    private(set) var remaining: Set<BluetoothAddress> = []
    private var crashSuspects = CrashSuspects()
    private var bonds = BondWatch()

    /// - Parameters:
    ///   - context: what the central's parts share.
    ///   - pairing: pairs with linked devices.
    ///   - sessions: what earlier links have left at bluetoothd.
    init(_ context: CentralContext, _ pairing: DevicePairing, _ sessions: NotifySessions) {
        self.context = context
        self.pairing = pairing
        self.sessions = sessions
        queue = ConnectQueue(context.timing.queue)
        pairing.onRequest = { [weak self] in self?.peripherals[$0]?.security.isPairingBegun = true }
    }

    /// The device with an address, if it is requested to be connected.
    subscript(address: BluetoothAddress) -> Peripheral? { peripherals[address] }

    /// Returns a linked device; nil without a link.
    func linked(_ address: BluetoothAddress) -> Peripheral? {
        guard let peripheral = peripherals[address], peripheral.isLinked else { return nil }
        return peripheral
    }

    /// Returns the device and the path of a characteristic; nil without a link, or if it is not discovered.
    func locate(_ characteristic: BluetoothUUID, of address: BluetoothAddress) -> (Peripheral, path: String)? {
        guard let peripheral = linked(address), let path = peripheral.characteristics[characteristic] else {
            return nil
        }
        return (peripheral, path)
    }

    // MARK: Connecting

    /// Connects a device as soon as it is received, or at its turn.
    func connect(_ address: BluetoothAddress) {
        guard peripherals[address] == nil else { return }
        peripherals[address] = Peripheral(address, context, pairing, sessions) { [weak self] in self?.lost($0, $1) }
        if !hasFormerLink(address) { enqueue(address) }
        EventLoop.shared.atEndOfTurn { [weak self] in self?.connectNext() }
    }

    func enqueue(_ address: BluetoothAddress) {
        queue.add(
            address, isHeard: context.device(address)?.object.isInRange ?? false,
            notBefore: crashSuspects.pause(of: address), at: .now)
    }

    /// Handles a device that was received.
    func heard(_ address: BluetoothAddress) {
        queue.heard(address, at: .now)
        connectNext()
    }

    /// Starts the next attempt if none is in progress.
    func connectNext() {
        guard context.state == .poweredOn, !context.isStopped else { return }
        if !former.isEmpty { useFormerLinks() }
        guard !queue.isEmpty else { return }
        guard attempt == nil else { return endContendedAttempt() }
        let turn = queue.next(at: .now) { context.device($0) != nil }
        connectTimer.arm(at: queue.deadline)
        guard let turn, let peripheral = peripherals[turn.address], let device = peripheral.device else { return }
        let use = device.object.isConnected ? useOfLink(of: peripheral.address, device.path) : nil
        if use == .refuse { return refuseUsedLink(peripheral) }
        if use == .replace { return replaceLink(peripheral) }
        attempt = peripheral
        peripheral.attemptedAt = .now
        onAttemptChange?()
        begin(peripheral, device.path, within: turn.isHeard ? context.timing.connect : context.timing.connectUnheard)
    }

    /// Ends the current attempt when its time is over and another device waits, which can be neither heard nor
    /// connected during the attempt. A link that is up is kept, even if BlueZ has not answered `Connect` yet.
    private func endContendedAttempt() {
        guard let attempt else { return }
        let due = attempt.attemptedAt + context.timing.connectContended
        guard due <= .now else { return contentionTimer.arm(at: due) }
        switch attempt.phase {
        case .connecting:
            let error = BluetoothError(.timeout, text: "no link in time, and other devices wait")
            attempt.drop(because: error) { [weak self] in self?.attemptEnded(attempt) }
        case .linked: attemptEnded(attempt)
        case .waiting, .replacing, .disconnecting: break
        }
    }

    private func useOfLink(of address: BluetoothAddress, _ path: String) -> ForeignLinks.Use {
        foreignLinks.use(
            of: address, hasClient: context.connection.tree.hasClient(below: path, besides: sessions.own), at: .now)
    }

    /// Refuses to connect a device that another client uses. The caller may retry later.
    func refuseUsedLink(_ peripheral: Peripheral) {
        peripheral.phase = .disconnecting
        peripheral.cause = BluetoothError(.inUse, text: "another program on this host uses the device")
        EventLoop.shared.atEndOfTurn { [weak self] in
            self?.lost(peripheral, nil)
            self?.connectNext()
        }
    }

    /// Replaces a link that existed before: made by another client or by BlueZ itself. What the device has sent at the start
    /// of that link is lost, and so the link is dropped and made again.
    ///
    /// BlueZ takes two seconds to end a link, but ends any number of links at the same time, so other devices don't wait.
    private func replaceLink(_ peripheral: Peripheral) {
        context.log.debug("replacing an existing link", [(.address, peripheral.address.description)])
        peripheral.phase = .replacing
        context.disconnect(peripheral.address) { [weak self] in
            guard let self, !peripheral.isOver, peripheral.phase == .replacing else { return }
            peripheral.phase = .waiting
            queue.add(peripheral.address, isHeard: true, at: .now)
            connectNext()
        }
        EventLoop.shared.atEndOfTurn { [weak self] in self?.connectNext() }
    }

    private func begin(_ peripheral: Peripheral, _ path: String, within limit: Duration) {
        peripheral.phase = .connecting
        crashSuspects.begins(peripheral.address, at: .now)
        context.log.debug("connecting", [(.address, peripheral.address.description)])
        context.connection.call(path, BlueZNames.device, "Connect", within: limit) { [weak self] in
            self?.connectEnded(peripheral, path, $0)
        }
    }

    private func connectEnded(_ peripheral: Peripheral, _ path: String, _ result: Result<DBusMessage, DBusError>) {
        // The attempt ended earlier, with its adapter or its bluetoothd.
        guard attempt === peripheral else { return }
        switch (result, peripheral.phase) {
        // The attempt was cancelled while BlueZ was about to succeed.
        case (.success, _) where peripheral.isOver:
            return context.disconnect(peripheral.address) { [weak self] in self?.attemptEnded(peripheral) }
        case (.success, .connecting):
            context.connection.setConnected(path)
            linkIsUp(peripheral)
        case (.failure(let error), .connecting) where !peripheral.isOver,
            (.failure(let error), .linked) where !peripheral.isOver && error.code != .timeout:
            context.log.debug(
                "connection failed", [(.address, peripheral.address.description), (.error, error.description)])
            peripheral.wasRefused = peripheral.phase == .linked
            // After a timeout, the attempt continues inside BlueZ. It must end before the next one starts.
            return peripheral.drop(because: BluetoothError(error)) { [weak self] in self?.attemptEnded(peripheral) }
        default: break
        }
        attemptEnded(peripheral)
    }

    private func attemptEnded(_ peripheral: Peripheral) {
        guard attempt === peripheral else { return }
        attempt = nil
        if queue.isEmpty { contentionTimer.disarm() }
        if peripheral.wantsPairing {
            peripheral.wantsPairing = false
            if peripheral.isLinked { pairing.pair(peripheral, peripheral.address) }
        }
        if peripheral.isLinked, peripheral.isPaired { pairing.bonded(peripheral) }
        peripheral.settleSecurity()
        connectNext()
        onAttemptChange?()
    }

    private func linkIsUp(_ peripheral: Peripheral) {
        guard peripheral.phase == .connecting else { return }
        peripheral.phase = .linked
        peripheral.linkedAt = .now
        peripheral.wasPaired = peripheral.isPaired
        // An existing link has passed this before, and no signal follows.
        if peripheral.device?.object.isResolved == true { servicesAreResolved(peripheral) }
        context.report(.connected(peripheral.address))
    }

    /// Uses an existing link as it is. No call is needed: BlueZ answers `Connect` on a connected device without an action.
    /// Source: BlueZ 5.66, `dev_connect` in `src/device.c`.
    func adopt(_ peripheral: Peripheral) {
        queue.remove(peripheral.address)
        peripheral.phase = .connecting
        peripheral.isFormer = true
        linkIsUp(peripheral)
        if peripheral.isLinked, peripheral.isPaired { pairing.bonded(peripheral) }
    }

    private func servicesAreResolved(_ peripheral: Peripheral) {
        peripheral.wasResolved = true
        bonds.clear(peripheral.address)
        crashSuspects.survived(peripheral.address)
    }

    /// Keeps why a link has ended. BlueZ signals it before `Connected` becomes false.
    func linkEnded(_ path: String, because reason: String) {
        guard let device = context.connection.tree.devices[path], device.adapter == context.adapter,
            let peripheral = device.address.flatMap({ peripherals[$0] }), peripheral.isLinked
        else { return }
        peripheral.linkEnd = BluetoothError(linkEnd: reason)
        let address = peripheral.address.description
        context.log.debug("link ended", [(.address, address), (.reason, reason)])
    }

    /// Handles changed properties of a device.
    func deviceChanged(_ path: String) {
        guard let device = context.connection.tree.devices[path], device.adapter == context.adapter,
            let address = device.address
        else { return }
        if !device.isConnected { formerLinkEnded(address) }
        guard let peripheral = peripherals[address] else { return }
        switch (peripheral.phase, device.isConnected) {
        // Another client has connected it. A connected device does not advertise.
        case (.waiting, true): heard(address)
        // The link is up before `Connect` returns.
        case (.connecting, true): linkIsUp(peripheral)
        case (.linked, false): return lost(peripheral, peripheral.linkEnd ?? .linkLost)
        default: break
        }
        if device.isResolved, peripheral.phase == .linked { servicesAreResolved(peripheral) }
        if device.isPaired, peripheral.phase == .linked { pairing.bonded(peripheral) }
        peripherals[address]?.continueSearches()
    }

    /// Handles an added characteristic. A search may wait for it.
    func characteristicAdded(_ path: String) {
        let searching = peripherals.values.filter { !$0.searches.isEmpty }
        for peripheral in searching where peripheral.device.map({ path.hasPrefix($0.path + "/") }) ?? false {
            peripheral.continueSearches()
        }
    }

    // MARK: Disconnecting

    /// Drops a link or cancels an attempt, and reports it when it is done.
    func disconnect(_ address: BluetoothAddress) {
        guard let peripheral = peripherals[address] else { return }
        switch peripheral.phase {
        case .waiting:
            queue.remove(address)
            EventLoop.shared.atEndOfTurn { [weak self] in self?.lost(peripheral, nil) }
        case .replacing, .connecting, .linked: peripheral.drop(because: nil)
        case .disconnecting: break
        }
    }

    /// Removes a device from BlueZ with its bond, and reports it.
    func forget(_ address: BluetoothAddress) {
        bonds.clear(address)
        pairing.requirements.clear(address)
        guard let adapter = context.adapter, context.state == .poweredOn else {
            let error = BluetoothError(.poweredOff, text: "there is no adapter to forget the device")
            return context.reportLater(.forgotten(address, error))
        }
        let peripheral = peripherals[address]
        guard let path = context.device(address)?.path else {
            disconnect(address)
            return context.reportLater(.forgotten(address, nil))
        }
        queue.remove(address)
        // The disconnection is a requested one, whichever signal arrives first.
        peripheral?.phase = .disconnecting
        peripheral?.cause = nil
        context.connection.call(adapter, BlueZNames.adapter, "RemoveDevice", [.objectPath(path)]) {
            [weak self] result in
            guard let self else { return }
            if let peripheral { lost(peripheral, nil) }
            context.report(.forgotten(address, forgetting(address, result)))
        }
    }

    private func forgetting(_ address: BluetoothAddress, _ result: Result<DBusMessage, DBusError>) -> BluetoothError? {
        guard case .failure(let error) = result, error.name != "org.bluez.Error.DoesNotExist" else { return nil }
        // The device was reported as disconnected, so it must not stay connected.
        if context.device(address)?.object.isConnected == true, peripherals[address] == nil {
            context.disconnect(address) {}
        }
        return BluetoothError(error)
    }

    // MARK: The end

    /// Handles the end of a link or of an attempt.
    ///
    /// - Parameters:
    ///   - peripheral: the device. Nothing happens if its end was reported already.
    ///   - error: the cause, unless the device was already being disconnected for another one.
    private func lost(_ peripheral: Peripheral, _ error: BluetoothError?) {
        let address = peripheral.address
        guard !peripheral.isOver else { return }
        peripheral.drain()
        // The handler of the last values may have made requests that ended the link.
        guard !peripheral.isOver else { return }
        peripheral.isOver = true
        queue.remove(address)
        peripherals[address] = nil
        pairing.ended(address)
        let hasLostBond = hasLostBond(peripheral)
        sessions.ended(peripheral)
        peripheral.close()
        let reason = peripheral.phase == .disconnecting ? peripheral.cause : error
        context.report(.disconnected(address, hasLostBond ? reason.map(BluetoothError.bondLost) : reason))
    }

    private func hasLostBond(_ peripheral: Peripheral) -> Bool {
        guard context.state == .poweredOn, peripheral.phase == .linked || peripheral.wasRefused else { return false }
        return bonds.ended(
            peripheral.address, isPaired: peripheral.isPaired, lasted: .now - peripheral.linkedAt,
            wasResolved: peripheral.wasResolved)
    }

    /// Handles a removed object of a device. BlueZ may remove it without sending `Connected=false` first.
    func deviceRemoved(_ address: BluetoothAddress) {
        bonds.clear(address)
        formerLinkEnded(address)
        // A device that waits to be heard keeps waiting: BlueZ removes a device that it has not heard for 30 s.
        guard let peripheral = peripherals[address], peripheral.phase != .waiting else { return }
        lost(peripheral, BluetoothError(.notFound, text: "BlueZ has removed the device"))
    }

    /// Handles the end of bluetoothd: a device may be the cause.
    func serviceLost() {
        former.removeAll()
        guard let (address, pause) = crashSuspects.ended(at: .now) else { return }
        context.log.warning(
            "bluetoothd has ended again while this device was connected; pausing before the next attempt",
            [(.address, address.description), (.retryIn, "\(pause.milliseconds)")])
    }

    /// Ends all links and attempts at once. No answers to pending calls will arrive.
    func endAll(_ error: BluetoothError) {
        attempt = nil
        contentionTimer.disarm()
        let all = peripherals.values.sorted { $0.address.description < $1.address.description }
        for peripheral in all { lost(peripheral, error) }
    }

    /// Delivers the values that were passed on by descriptor and not read yet.
    func drain() {
        for peripheral in Array(peripherals.values) { peripheral.drain() }
    }

    /// Starts no further attempt.
    func stop() {
        connectTimer.disarm()
        contentionTimer.disarm()
        formerTimer.disarm()
    }

    /// Drops all links for good, and waits for it, at most for the given time. ``remaining`` are those that have not ended then.
    func leave(within limit: Duration) async {
        let all = peripherals.values.filter { $0.phase != .waiting }
        remaining = former.addresses
        guard context.state == .poweredOn, !all.isEmpty else { return }
        for peripheral in all {
            if peripheral.phase == .linked { peripheral.releaseNotifications() }
            peripheral.close()
            // A write that was refused for the moment must not be repeated, nor a pairing begun.
            peripheral.phase = .disconnecting
        }
        let left = all.filter { !$0.subscriptions.isShared }
        guard !left.isEmpty else { return }
        remaining.formUnion(left.map(\.address))
        await withCheckedContinuation { continuation in
            var count = left.count
            var timer: LoopTimer?
            let finish: @LoopActor () -> Void = {
                guard timer != nil else { return }
                timer = nil
                continuation.resume()
            }
            timer = LoopTimer(handler: finish)
            timer?.arm(after: limit)
            for peripheral in left {
                let ended: @LoopActor (Bool) -> Void = { [weak self] hasEnded in
                    if hasEnded { self?.remaining.remove(peripheral.address) }
                    count -= 1
                    if count == 0 { finish() }
                }
                guard let path = peripheral.device?.path else {
                    EventLoop.shared.atEndOfTurn { ended(true) }
                    continue
                }
                context.disconnect(path, then: ended)
            }
        }
    }
}
