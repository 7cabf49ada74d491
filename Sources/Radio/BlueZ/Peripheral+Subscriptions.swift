import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// The subscriptions of one link.
struct Subscriptions {
    /// The state of a characteristic's notifications.
    enum State {
        /// Being enabled, for this number of requests.
        case beginning(requests: Int)
        /// Enabled, by a descriptor.
        case byDescriptor(NotificationChannel)
        /// Enabled, by signals.
        case bySignal
    }

    var states: [BluetoothUUID: State] = [:]
    /// Paths of characteristics whose values arrive by signals.
    var listening: Set<String> = []
    /// Paths of characteristics whose `AcquireNotify` has not been answered.
    var acquiring: Set<String> = []
    /// Paths of characteristics whose notifications any client has acquired since the link came up.
    var acquired: Set<String> = []
    /// Subscriptions that were refused because the notifications are acquired.
    var taken: [(subscription: Subscription, error: DBusError)] = []
    /// Decides about ``taken``.
    var takenTimer: LoopTimer?
    /// Whether another client uses the link, which is therefore not disconnected.
    var isShared = false
    /// Retries the calls of `AcquireNotify` that were refused for the former client of an adopted link, and replaces closed
    /// descriptors.
    var retries: [BluetoothUUID: LoopTimer] = [:]
    /// When closed descriptors were replaced.
    var replacements: [Instant] = []
    /// Whether a closed descriptor was not replaced: the link lacks a subscription.
    var hasLost = false

    /// How many closed descriptors are replaced within ``window``, of all characteristics.
    static let mostReplacements = 9
    /// How long a replaced descriptor counts.
    static let window = Duration.seconds(60)

    /// Counts one more replacement of a closed descriptor.
    ///
    /// - Returns: false if there were too many.
    mutating func mayReplace(at now: Instant) -> Bool {
        replacements.removeAll { now - $0 >= Self.window }
        guard replacements.count < Self.mostReplacements else { return false }
        replacements.append(now)
        return true
    }

    /// Whether an `AcquireNotify` has not been answered.
    var isAcquiring: Bool { !acquiring.isEmpty }
    /// The number of subscriptions that are being enabled.
    var pendingCount: Int { states.values.count { if case .beginning = $0 { true } else { false } } }
    /// The descriptors.
    var channels: [BluetoothUUID: NotificationChannel] {
        states.compactMapValues { if case .byDescriptor(let channel) = $0 { channel } else { nil } }
    }

    /// Notes the answer to an `AcquireNotify`.
    mutating func endAcquiring(_ path: String) {
        acquiring.remove(path)
        // An empty set keeps its memory.
        if acquiring.isEmpty { acquiring = [] }
    }
}

/// Subscriptions: by descriptor if BlueZ provides one, which takes half the time and CPU of signals; otherwise by
/// signals.
extension Peripheral {
    /// Subscribes to a discovered characteristic, and reports the result.
    func subscribe(_ characteristic: BluetoothUUID, _ path: String) {
        switch subscriptions.states[characteristic] {
        case nil:
            for path in sessions.unanswered.take(address) { callCharacteristic(path, "StopNotify") { _ in } }
            sessions.acquires(self)
            let isRoom =
                context.connection.passesDescriptors
                && SpareDescriptors.areAvailable(beside: sessions.pendingAcquisitions)
            subscriptions.states[characteristic] = .beginning(requests: 1)
            let subscription = Subscription(characteristic: characteristic, path: path)
            whenSecure { [unowned self] in
                if isRoom { acquire(subscription, isFirst: true) } else { startNotify(subscription) }
            }
        case .beginning(let requests):
            subscriptions.states[characteristic] = .beginning(requests: requests + 1)
        case .byDescriptor, .bySignal: context.reportLater(.subscribed(address, characteristic))
        }
    }

    /// Handles changed properties of a characteristic.
    func characteristicChanged(_ path: String, _ values: [String: DBusValue]) {
        switch values["NotifyAcquired"]?.flag {
        case true?: subscriptions.acquired.insert(path)
        case false?: subscriptions.acquired.remove(path)
        case nil: break
        }
        if let mtu = values["MTU"]?.integer, isLinked { mtuChanged(mtu) }
    }

    // MARK: By descriptor

    private func acquire(_ subscription: Subscription, isFirst: Bool) {
        subscriptions.acquiring.insert(subscription.path)
        callCharacteristic(
            subscription.path, "AcquireNotify", [.properties([])], within: context.timing.acquire
        ) { [weak self] result in
            guard let self else { return }
            if !result.isTimeout { subscriptions.endAcquiring(subscription.path) }
            guard isLinked else { return }
            switch result {
            case .success(let message): acquired(message, subscription)
            case .failure(let error):
                switch Subscription.Refusal(error) {
                case .never: startNotify(subscription)
                case .sessionLeft where isFirst: endSession(subscription) { $0.acquire(subscription, isFirst: false) }
                case .sessionLeft: startNotify(subscription)
                case .taken where isFormer && .now - linkedAt < FormerLinks.grace:
                    retry(subscription.characteristic, after: context.timing.descriptorPause) {
                        $0.acquire(subscription, isFirst: isFirst)
                    }
                case .taken: acquiredByOther(subscription, error)
                case nil where error.code == .timeout:
                    cancelAcquisition(subscription.path) { [weak self] in self?.failed(subscription, error) }
                case nil: failed(subscription, error)
                }
            }
        }
    }

    private func acquired(_ message: DBusMessage, _ subscription: Subscription) {
        guard case .descriptor(let descriptor)? = message.arguments.first, let number = descriptor.take() else {
            return failed(subscription, .malformed("AcquireNotify is answered without a descriptor"))
        }
        if let mtu = message.arguments.last?.integer { mtuChanged(mtu) }
        do throws(SystemError) {
            let characteristic = subscription.characteristic
            let channel = try NotificationChannel(owning: number) { [context, address] value in
                context.report(.notified(address, characteristic, value))
            } onEnd: { [weak self] in
                if let self, isLinked { descriptorClosed(subscription) }
            }
            begun(subscription, .byDescriptor(channel))
        } catch {
            end(subscription) {
                .subscribeFailed($0, subscription.characteristic, BluetoothError(.other, text: error.description))
            }
        }
    }

    // MARK: A closed descriptor

    /// Handles a descriptor that BlueZ has closed: the link is going down, or another client has called `StopNotify` for the
    /// characteristic, which ends the notifications of any client. Source: BlueZ 5.66, `characteristic_stop_notify` in
    /// `src/gatt-client.c`.
    ///
    /// BlueZ closes the descriptors just before it reports that the link is down. If it does not, they are acquired again.
    private func descriptorClosed(_ subscription: Subscription) {
        awaitLinkEnd()
        guard subscriptions.mayReplace(at: .now) else {
            subscriptions.hasLost = true
            return
        }
        subscriptions.states[subscription.characteristic] = .beginning(requests: 0)
        sessions.acquires(self)
        retry(subscription.characteristic, after: context.timing.descriptorPause) {
            $0.context.log.debug("subscribing again", [(.address, $0.address.description), (.path, subscription.path)])
            $0.acquire(subscription, isFirst: true)
        }
    }

    private func retry(
        _ characteristic: BluetoothUUID, after pause: Duration, _ action: @escaping @LoopActor (Peripheral) -> Void
    ) {
        let timer = LoopTimer { [weak self] in
            guard let self, isLinked else { return }
            subscriptions.retries[characteristic] = nil
            action(self)
        }
        timer.arm(after: pause)
        subscriptions.retries[characteristic] = timer
    }

    // MARK: Held by others

    /// Handles the error that a client has acquired the notifications. If that client is alive, BlueZ has set the
    /// property `NotifyAcquired` on this link, or will set it soon, because descriptors close with their link.
    private func acquiredByOther(_ subscription: Subscription, _ error: DBusError) {
        subscriptions.taken.append((subscription, error))
        guard subscriptions.takenTimer == nil else { return }
        subscriptions.takenTimer = LoopTimer { [weak self] in self?.reportAcquiredByOther() }
        subscriptions.takenTimer?.arm(after: context.timing.taken)
    }

    private func reportAcquiredByOther() {
        let taken = subscriptions.taken
        subscriptions.taken = []
        subscriptions.takenTimer = nil
        for (subscription, error) in taken where isLinked {
            let reason = refusal(of: subscription.path, error)
            end(subscription) { .subscribeFailed($0, subscription.characteristic, reason) }
        }
    }

    private func refusal(of path: String, _ error: DBusError) -> BluetoothError {
        guard !subscriptions.acquired.contains(path) else {
            subscriptions.isShared = true
            return BluetoothError(.inUse, name: error.name, text: "another program on this host uses the device")
        }
        context.log.warning(
            "bluetoothd keeps a subscription for a program that does not exist; restart bluetoothd",
            [(.path, path), (.error, error.description)])
        return BluetoothError(
            .subscriptionStuck, name: error.name,
            text: "bluetoothd keeps the notifications of the device for a program that does not exist")
    }

    /// Cancels an unanswered `AcquireNotify`. bluetoothd 5.66 keeps it beyond the end of the link and refuses each
    /// later one, until `StopNotify`. Don't call it right after the link has ended: bluetoothd crashes then. Source:
    /// BlueZ 5.66, `characteristic_stop_notify` and `btd_gatt_client_disconnected` in `src/gatt-client.c`.
    private func cancelAcquisition(_ path: String, then next: @escaping @LoopActor () -> Void = {}) {
        callCharacteristic(path, "StopNotify") { [weak self] result in
            if !result.isTimeout { self?.subscriptions.endAcquiring(path) }
            next()
        }
    }

    /// Cancels all unanswered calls of `AcquireNotify`.
    func cancelAcquisitions() {
        for path in subscriptions.acquiring.sorted() { cancelAcquisition(path) }
    }

    // MARK: By signals

    /// Ends an earlier session first. bluetoothd keeps the registration of an earlier connection and then sends each
    /// value once per registration. Observed with bluetoothd 5.66.
    private func startNotify(_ subscription: Subscription) {
        endSession(subscription) { $0.notifyBySignals(subscription) }
    }

    private func notifyBySignals(_ subscription: Subscription) {
        let (address, characteristic) = (address, subscription.characteristic)
        // This client's session has ended, so a remaining one belongs to another client.
        let isSharedWithOther = context.connection.tree.characteristics[subscription.path]?.isNotifying == true
        var echoes = isSharedWithOther ? EchoFilter() : nil
        context.connection.listen(to: subscription.path) { [weak context] value in
            guard echoes == nil || echoes?.admits(value, at: .now) == true else { return }
            context?.report(.notified(address, characteristic, value))
        }
        subscriptions.listening.insert(subscription.path)
        sessions.own.insert(subscription.path)
        callCharacteristic(subscription.path, "StartNotify") { [weak self] result in
            guard let self, isLinked else { return }
            switch result {
            case .success: requestMTU(subscription) { $0.begun(subscription, .bySignal) }
            case .failure(let error): failed(subscription, error)
            }
        }
    }

    /// Ends this client's session by signals. It is not an error if there is none.
    private func endSession(_ subscription: Subscription, then next: @escaping @LoopActor (Peripheral) -> Void) {
        callCharacteristic(subscription.path, "StopNotify") { [weak self, sessions] result in
            if !result.isTimeout { sessions.own.remove(subscription.path) }
            if let self, isLinked { next(self) }
        }
    }

    /// Reads the MTU, which `StartNotify` does not return, unlike `AcquireNotify`. The property exists since BlueZ
    /// 5.62.
    private func requestMTU(_ subscription: Subscription, then next: @escaping @LoopActor (Peripheral) -> Void) {
        guard mtu == nil else { return next(self) }
        context.connection.call(
            subscription.path, BlueZNames.properties, "Get", [.string(BlueZNames.gattCharacteristic), .string("MTU")]
        ) { [weak self] result in
            guard let self, isLinked else { return }
            if let mtu = (try? result.get())?.arguments.first?.integer { mtuChanged(mtu) }
            next(self)
        }
    }

    // MARK: How they end

    private func begun(_ subscription: Subscription, _ state: Subscriptions.State) {
        end(subscription, state) { .subscribed($0, subscription.characteristic) }
    }

    private func failed(_ subscription: Subscription, _ error: DBusError) {
        let reason = accessError(error)
        end(subscription) { .subscribeFailed($0, subscription.characteristic, reason) }
    }

    /// Reports the result once for each request for this subscription.
    private func end(
        _ subscription: Subscription, _ state: Subscriptions.State? = nil, event: (BluetoothAddress) -> CentralEvent
    ) {
        if state == nil { stopListening(to: subscription.path) }
        guard case .beginning(let requests) = subscriptions.states[subscription.characteristic] else { return }
        subscriptions.states[subscription.characteristic] = state
        for _ in 0..<requests where isLinked { context.report(event(address)) }
        // No caller waits for the result of a replaced descriptor.
        if state != nil { replaced() } else if requests == 0, isLinked { replacementFailed(event(address)) }
    }

    /// Handles a subscription that exists again: once all do, the link is complete.
    private func replaced() {
        let isPending = subscriptions.states.values.contains { if case .beginning(0) = $0 { true } else { false } }
        if !isPending, !subscriptions.hasLost { cancelLinkEnd() }
    }

    /// Handles a descriptor that could not be replaced. Unless another client has it, the link is probably going down.
    private func replacementFailed(_ event: CentralEvent) {
        guard case .subscribeFailed(_, _, let error) = event else { return }
        subscriptions.hasLost = true
        context.log.debug(
            "cannot subscribe again", [(.address, address.description), (.error, error.text)])
        if error.code == .inUse { drop(because: error) }
    }

    private func stopListening(to path: String) {
        guard subscriptions.listening.remove(path) != nil else { return }
        context.connection.stopListening(to: path)
    }

    /// Delivers the values that the device has sent before its end. Signals and descriptors are independent: the end of
    /// the link may be reported before the last values are read.
    func drain() {
        for channel in subscriptions.channels.values { channel.drain() }
    }

    /// Ends the notifications while the link is up. Before 5.86, bluetoothd frees the state of a descriptor when its
    /// client leaves the bus, uses that state again when the descriptor closes or the link ends, and crashes. Waiting for
    /// the answer to `Disconnect` does not help: bluetoothd answers before it has closed the descriptors.
    /// Source: BlueZ 5.66, `notify_client_disconnect` and `notify_io_destroy` in `src/gatt-client.c`.
    func releaseNotifications() {
        let open = subscriptions.channels.keys.compactMap { characteristics[$0] }
        for path in subscriptions.acquiring.union(open).sorted() { cancelAcquisition(path) }
    }

    /// Ends the delivery of values.
    func closeSubscriptions() {
        for channel in subscriptions.channels.values { channel.cancel() }
        for path in subscriptions.listening { stopListening(to: path) }
        subscriptions.states = [:]
        subscriptions.taken = []
        subscriptions.retries = [:]
    }
}

extension Result where Failure == DBusError {
    /// Whether the call has timed out. The peer may still answer it.
    var isTimeout: Bool {
        if case .failure(let error) = self { error.code == .timeout } else { false }
    }
}
