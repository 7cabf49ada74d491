import Bluetooth
import DBus
import EventLoop
import Logging
import Time

/// Discovery of services and characteristics.
extension BlueZCentral {
    func discover(_ service: BluetoothUUID, _ characteristics: [BluetoothUUID], of address: BluetoothAddress) {
        guard let peripheral = peripherals[address], peripheral.phase == .linked else {
            return reportLater(.discoveryFailed(address, Self.notConnected))
        }
        peripheral.searches.append(ServiceSearch(service, characteristics, timing: timing, now: .now))
        EventLoop.shared.atEndOfTurn { [weak self] in self?.continueSearches(of: address) }
    }

    /// Checks whether the requested characteristics of a device are present now.
    func continueSearches(of address: BluetoothAddress) {
        guard let peripheral = peripherals[address], peripheral.phase == .linked, !peripheral.searches.isEmpty,
            let path = device(address)?.path
        else { return }
        let now = Instant.now
        var outcomes: [ServiceSearch.Outcome] = []
        var open: [ServiceSearch] = []
        for var search in peripheral.searches {
            if let outcome = search.look(in: tree, at: path, now: now) {
                outcomes.append(outcome)
            } else {
                open.append(search)
            }
        }
        peripheral.searches = open
        peripheral.checkSearches(at: open.map(\.deadline).min())
        for outcome in outcomes { report(outcome, of: peripheral) }
    }

    /// Handles an added characteristic. A search may wait for it.
    func characteristicAdded(_ path: String) {
        let searching = peripherals.values.filter { !$0.searches.isEmpty }
        for peripheral in searching where device(peripheral.address).map({ path.hasPrefix($0.path + "/") }) ?? false {
            continueSearches(of: peripheral.address)
        }
    }

    private func report(_ outcome: ServiceSearch.Outcome, of peripheral: Peripheral) {
        let address = peripheral.address
        // The handler of the previous event may have ended the link.
        guard peripherals[address] === peripheral, peripheral.phase == .linked else { return }
        switch outcome {
        case .found(let found):
            peripheral.characteristics.merge(found.mapValues(\.path)) { $1 }
            onEvent?(.characteristicsDiscovered(address, found.mapValues(\.properties)))
        case .failed(let error): onEvent?(.discoveryFailed(address, error))
        }
    }

    static let notConnected = BluetoothError(.notFound, text: "the device is not connected")
}

/// What searches, writes and subscriptions have in common.
extension BlueZCentral {
    static let characteristicMissing = BluetoothError(.characteristicMissing, text: "the characteristic is not there")

    /// Returns the device and the path of a characteristic; nil without a link, or if it is not discovered.
    func locate(_ characteristic: BluetoothUUID, _ address: BluetoothAddress) -> (Peripheral, path: String)? {
        guard let peripheral = peripherals[address], peripheral.phase == .linked,
            let path = peripheral.characteristics[characteristic]
        else { return nil }
        return (peripheral, path)
    }

    /// Whether this is the current link with the device, and up. Answers to calls of an earlier link are ignored.
    func isLinked(_ peripheral: Peripheral) -> Bool {
        peripheral.phase == .linked && peripherals[peripheral.address] === peripheral
    }

    /// A device that requires encryption although BlueZ has a bond with it has lost its bond.
    func accessError(_ error: DBusError, _ peripheral: Peripheral) -> BluetoothError {
        let failure = BluetoothError(error)
        guard failure.code == .authenticationFailed else { return failure }
        guard !isPaired(peripheral) else { return Self.bondLost(failure) }
        bondRequirements.note(peripheral.address, requiresBond: true)
        return failure
    }

    func callCharacteristic(
        _ path: String, _ member: String, _ arguments: [DBusValue] = [], within limit: Duration? = nil,
        completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        call(
            .call(to: BlueZNames.service, path, BlueZNames.gattCharacteristic, member, arguments), within: limit,
            completion: completion)
    }
}

/// Subscriptions: by descriptor if BlueZ provides one, which takes half the time and CPU of signals; otherwise by
/// signals.
extension BlueZCentral {
    func subscribe(_ characteristic: BluetoothUUID, of address: BluetoothAddress) {
        guard let (peripheral, path) = locate(characteristic, address) else {
            return reportLater(.subscribeFailed(address, characteristic, Self.characteristicMissing))
        }
        switch peripheral.notifications[characteristic] {
        case nil:
            cancelUnansweredAcquisitions(of: address)
            acquiring.insert(address)
            let isRoom = SpareDescriptors.areAvailable(beside: pendingAcquisitions)
            peripheral.notifications[characteristic] = .beginning(requests: 1)
            let request = Subscription(peripheral: peripheral, characteristic: characteristic, path: path)
            whenSecure(peripheral) { [unowned self] in
                if isRoom { acquire(request, isFirst: true) } else { startNotify(request) }
            }
        case .beginning(let requests):
            peripheral.notifications[characteristic] = .beginning(requests: requests + 1)
        case .byDescriptor, .bySignal: reportLater(.subscribed(address, characteristic))
        }
    }

    /// The number of calls in progress that may get a descriptor.
    var pendingAcquisitions: Int {
        let pending = acquiring.map { ($0, peripherals[$0]?.pendingAcquisitions ?? 0) }
        acquiring.subtract(pending.filter { $0.1 == 0 }.map(\.0))
        return pending.reduce(0) { $0 + $1.1 }
    }

    // MARK: By descriptor

    private func acquire(_ request: Subscription, isFirst: Bool) {
        request.peripheral.acquiring.insert(request.path)
        callCharacteristic(request.path, "AcquireNotify", [.properties([])], within: timing.acquire) {
            [weak self] result in
            guard let self else { return }
            if !result.isTimeout { request.peripheral.endAcquiring(request.path) }
            guard isCurrent(request) else { return }
            switch result {
            case .success(let message): acquired(message, request)
            case .failure(let error):
                switch Subscription.Refusal(error) {
                case .never: startNotify(request)
                case .sessionLeft where isFirst: endSession(request) { $0.acquire(request, isFirst: false) }
                case .sessionLeft: startNotify(request)
                case .taken: acquiredByOther(request, error)
                case nil where error.code == .timeout:
                    cancelAcquire(request.path, of: request.peripheral) { [weak self] in self?.failed(request, error) }
                case nil: failed(request, error)
                }
            }
        }
    }

    // MARK: Held by others

    /// Handles the error that a client has acquired the notifications. If that client is alive, BlueZ has set the
    /// property `NotifyAcquired` on this link, or will set it soon, because descriptors close with their link.
    private func acquiredByOther(_ request: Subscription, _ error: DBusError) {
        let peripheral = request.peripheral
        peripheral.taken.append((request, error))
        guard peripheral.takenTimer == nil else { return }
        peripheral.takenTimer = LoopTimer { [weak self] in self?.reportAcquiredByOther(peripheral) }
        peripheral.takenTimer?.arm(after: timing.taken)
    }

    private func reportAcquiredByOther(_ peripheral: Peripheral) {
        let taken = peripheral.taken
        peripheral.taken = []
        peripheral.takenTimer = nil
        for (request, error) in taken where isCurrent(request) {
            let isHeld = peripheral.acquired.contains(request.path)
            if isHeld { peripheral.isShared = true } else { subscriptionIsStuck(request.path, error) }
            let reason =
                isHeld
                ? BluetoothError(.inUse, name: error.name, text: "another program on this host uses the device")
                : BluetoothError(
                    .subscriptionStuck, name: error.name,
                    text: "bluetoothd keeps the notifications of the device for a program that does not exist")
            notifying[request.path] = nil
            end(request) { .subscribeFailed(peripheral.address, request.characteristic, reason) }
        }
    }

    private func subscriptionIsStuck(_ path: String, _ error: DBusError) {
        log.warning(
            "bluetoothd keeps a subscription for a program that does not exist; restart bluetoothd",
            [(.path, path), (.error, error.description)])
    }

    /// Cancels an unanswered `AcquireNotify`. bluetoothd 5.66 keeps it beyond the end of the link and refuses each
    /// later one, until `StopNotify`. Don't call it right after the link has ended: bluetoothd crashes then. Source:
    /// BlueZ 5.66, `characteristic_stop_notify` and `btd_gatt_client_disconnected` in `src/gatt-client.c`.
    func cancelAcquire(_ path: String, of peripheral: Peripheral, then next: @escaping @LoopActor () -> Void = {}) {
        callCharacteristic(path, "StopNotify") { result in
            if !result.isTimeout { peripheral.endAcquiring(path) }
            next()
        }
    }

    private func cancelUnansweredAcquisitions(of address: BluetoothAddress) {
        for path in unansweredAcquisitions.take(address) {
            callCharacteristic(path, "StopNotify") { _ in }
        }
    }

    private func acquired(_ message: DBusMessage, _ request: Subscription) {
        guard case .descriptor(let descriptor)? = message.arguments.first, let number = descriptor.take() else {
            return failed(request, .malformed("AcquireNotify is answered without a descriptor"))
        }
        let (address, characteristic) = (request.peripheral.address, request.characteristic)
        if let mtu = message.arguments.last?.integer { mtuChanged(mtu, of: request.peripheral) }
        do throws(SystemError) {
            // Not the whole request: the closures exist as long as the link.
            let peripheral = request.peripheral
            let channel = try NotificationChannel(owning: number) { [unowned self] value in
                onEvent?(.notified(address, characteristic, value))
            } onEnd: { [weak self] in
                guard let self, isLinked(peripheral) else { return }
                // BlueZ closes the descriptors just before it reports that the link is down.
                peripheral.awaitLinkEnd(within: timing.linkEnd)
            }
            begun(request, .byDescriptor(channel))
        } catch {
            let error = BluetoothError(.other, text: error.description)
            end(request) { .subscribeFailed(address, characteristic, error) }
        }
    }

    /// Drops a link that has stayed up after BlueZ has closed its descriptors: no more values would arrive.
    func notificationsEnded(_ address: BluetoothAddress) {
        guard let peripheral = peripherals[address], peripheral.phase == .linked else { return }
        log.warning("BlueZ has ended the notifications of a connected device", [(.address, address.description)])
        drop(peripheral, because: BluetoothError(.connectionFailed, text: "BlueZ has ended the notifications"))
    }

    // MARK: By signals

    /// Ends an earlier session first. bluetoothd keeps the registration of an earlier connection and then sends each
    /// value once per registration. Observed with bluetoothd 5.66.
    private func startNotify(_ request: Subscription) {
        endSession(request) { $0.notifyBySignals(request) }
    }

    private func notifyBySignals(_ request: Subscription) {
        var request = request
        // This client's session has ended, so a remaining one belongs to another client.
        if tree.characteristics[request.path]?.isNotifying == true { request.echoes = EchoFilter() }
        notifying[request.path] = request
        ownSessions.insert(request.path)
        callCharacteristic(request.path, "StartNotify") { [weak self] result in
            guard let self, isCurrent(request) else { return }
            switch result {
            case .success: requestMTU(request) { $0.begun(request, .bySignal) }
            case .failure(let error): failed(request, error)
            }
        }
    }

    /// Ends this client's session by signals. It is not an error if there is none.
    private func endSession(_ request: Subscription, then next: @escaping @LoopActor (BlueZCentral) -> Void) {
        callCharacteristic(request.path, "StopNotify") { [weak self] result in
            if !result.isTimeout { self?.ownSessions.remove(request.path) }
            guard let self, isCurrent(request) else { return }
            next(self)
        }
    }

    /// Reads a value of a subscription directly from a message about changed properties of a characteristic: with
    /// `StartNotify`, every gesture takes this path.
    ///
    /// - Returns: nil if the message contains no value, or there is no subscription by signals.
    func notification(in message: DBusMessage) -> (Subscription, value: [UInt8])? {
        guard !notifying.isEmpty, let request = notifying[message.path] else { return nil }
        return Self.value(in: message).map { (request, $0) }
    }

    /// Delivers a value of a subscription by signals.
    func deliver(_ value: [UInt8], to request: Subscription) {
        guard request.echoes == nil || notifying[request.path]?.echoes?.admits(value, at: .now) == true else { return }
        onEvent?(.notified(request.peripheral.address, request.characteristic, value))
    }

    private static func value(in message: DBusMessage) -> [UInt8]? {
        var reader = DBusReader(message)
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

    // MARK: The MTU

    /// Handles the MTU of a device's link.
    func mtuChanged(_ mtu: Int, of peripheral: Peripheral) {
        let range = CentralEvent.mtuRange
        let mtu = min(max(mtu, range.lowerBound), range.upperBound)
        guard mtu != peripheral.mtu else { return }
        peripheral.mtu = mtu
        onEvent?(.mtuChanged(peripheral.address, mtu))
    }

    /// Reads the MTU, which `StartNotify` does not return, unlike `AcquireNotify`. The property exists since BlueZ
    /// 5.62.
    private func requestMTU(_ request: Subscription, then next: @escaping @LoopActor (BlueZCentral) -> Void) {
        guard request.peripheral.mtu == nil else { return next(self) }
        let message = DBusMessage.call(
            to: BlueZNames.service, request.path, BlueZNames.properties, "Get",
            [.string(BlueZNames.gattCharacteristic), .string("MTU")])
        call(message) { [weak self] result in
            guard let self, isCurrent(request) else { return }
            if let mtu = (try? result.get())?.arguments.first?.integer { mtuChanged(mtu, of: request.peripheral) }
            next(self)
        }
    }

    // MARK: How it ends

    /// Whether the subscription's link still exists.
    private func isCurrent(_ request: Subscription) -> Bool { isLinked(request.peripheral) }

    private func begun(_ request: Subscription, _ notifications: Peripheral.Notifications) {
        end(request, notifications) { .subscribed(request.peripheral.address, request.characteristic) }
    }

    private func failed(_ request: Subscription, _ error: DBusError) {
        let reason = accessError(error, request.peripheral)
        notifying[request.path] = nil
        end(request) { .subscribeFailed(request.peripheral.address, request.characteristic, reason) }
    }

    /// Reports the result once for each request for this subscription.
    private func end(
        _ request: Subscription, _ notifications: Peripheral.Notifications? = nil, event: () -> CentralEvent
    ) {
        let peripheral = request.peripheral
        guard case .beginning(let requests) = peripheral.notifications[request.characteristic] else { return }
        peripheral.notifications[request.characteristic] = notifications
        for _ in 0..<requests where isLinked(peripheral) { onEvent?(event()) }
    }
}

extension Result where Failure == DBusError {
    /// Whether the call has timed out. The peer may still answer it.
    var isTimeout: Bool {
        if case .failure(let error) = self { error.code == .timeout } else { false }
    }
}
