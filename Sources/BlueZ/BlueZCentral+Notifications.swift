import Bluetooth
import DBus
import EventLoop
import Logging

/// Switching notifications on: by descriptor if BlueZ gives one, half the time and work of a signal; else by signals.
extension BlueZCentral {
    func subscribe(_ characteristic: BluetoothUUID, of address: BluetoothAddress) {
        guard let (peripheral, path) = place(of: characteristic, address) else {
            return tellLater(.subscribeFailed(address, characteristic, Self.notThere))
        }
        switch peripheral.notifications[characteristic] {
        case nil:
            takeBackOld(of: address)
            let isRoom = SpareDescriptors.areThere(beside: beginnings)
            peripheral.notifications[characteristic] = .beginning(requests: 1)
            let wish = Subscription(peripheral: peripheral, characteristic: characteristic, path: path)
            whenSecure(peripheral) { [unowned self] in
                if isRoom { acquire(wish, isFirst: true) } else { startNotify(wish) }
            }
        case .beginning(let requests):
            peripheral.notifications[characteristic] = .beginning(requests: requests + 1)
        case .byDescriptor, .bySignal: tellLater(.subscribed(address, characteristic))
        }
    }

    /// How many characteristics have not been answered yet, and may be given a descriptor.
    private var beginnings: Int {
        peripherals.values.reduce(0) { count, peripheral in
            count + peripheral.notifications.values.count { if case .beginning = $0 { true } else { false } }
        }
    }

    // MARK: By descriptor

    private func acquire(_ wish: Subscription, isFirst: Bool) {
        wish.peripheral.acquiring.insert(wish.path)
        callCharacteristic(wish.path, "AcquireNotify", [.properties([])], within: timing.acquire) {
            [weak self] result in
            guard let self else { return }
            if !result.isTimeout { wish.peripheral.acquiring.remove(wish.path) }
            guard isCurrent(wish) else { return }
            switch result {
            case .success(let message): acquired(message, wish)
            case .failure(let error):
                switch Subscription.Refusal(error) {
                case .never: startNotify(wish)
                case .sessionLeft where isFirst: endSession(wish) { $0.acquire(wish, isFirst: false) }
                case .sessionLeft: startNotify(wish)
                case .taken: notificationsAreTaken(wish, error)
                case nil where error.code == .timeout:
                    takeBack(wish.path, of: wish.peripheral) { [weak self] in self?.failed(wish, error) }
                case nil: failed(wish, error)
                }
            }
        }
    }

    // MARK: Held by others

    /// BlueZ says that some client has acquired the notifications. If that client lives, BlueZ has said so, or is about to,
    /// by the property `NotifyAcquired`: on this link, because descriptors close with theirs.
    private func notificationsAreTaken(_ wish: Subscription, _ error: DBusError) {
        let peripheral = wish.peripheral
        peripheral.taken.append((wish, error))
        guard peripheral.takenTimer == nil else { return }
        peripheral.takenTimer = LoopTimer { [weak self] in self?.decideTaken(peripheral) }
        peripheral.takenTimer?.arm(after: timing.taken)
    }

    private func decideTaken(_ peripheral: Peripheral) {
        let taken = peripheral.taken
        peripheral.taken = []
        peripheral.takenTimer = nil
        for (wish, error) in taken where isCurrent(wish) {
            let isHeld = peripheral.acquired.contains(wish.path)
            if isHeld { peripheral.isShared = true } else { subscriptionIsStuck(wish.path, error) }
            let reason =
                isHeld
                ? BluetoothError(.inUse, name: error.name, text: "another program on this host uses the device")
                : BluetoothError(
                    .subscriptionStuck, name: error.name,
                    text: "bluetoothd keeps the notifications of the device for a program that does not exist")
            notifying[wish.path] = nil
            end(wish) { .subscribeFailed(peripheral.address, wish.characteristic, reason) }
        }
    }

    private func subscriptionIsStuck(_ path: String, _ error: DBusError) {
        log.warning(
            "bluetoothd keeps a subscription for a program that does not exist; restart bluetoothd",
            [(.path, path), (.error, error.description)])
    }

    /// bluetoothd 5.66 keeps an `AcquireNotify` that it has not answered beyond the end of the link, and refuses each later one.
    /// A `StopNotify` makes it forget the call. Not right behind the link: bluetoothd crashes then.
    /// Source: BlueZ 5.66, `characteristic_stop_notify` and `btd_gatt_client_disconnected` in `src/gatt-client.c`.
    func takeBack(_ path: String, of peripheral: Peripheral, then next: @escaping @LoopActor () -> Void = {}) {
        callCharacteristic(path, "StopNotify") { result in
            if !result.isTimeout { peripheral.acquiring.remove(path) }
            next()
        }
    }

    private func takeBackOld(of address: BluetoothAddress) {
        for path in unansweredAcquisitions.take(address) {
            callCharacteristic(path, "StopNotify") { _ in }
        }
    }

    private func acquired(_ message: DBusMessage, _ wish: Subscription) {
        guard case .descriptor(let descriptor)? = message.arguments.first, let number = descriptor.take() else {
            return failed(wish, .malformed("AcquireNotify is answered without a descriptor"))
        }
        let (address, characteristic) = (wish.peripheral.address, wish.characteristic)
        if let mtu = message.arguments.last?.integer { mtuChanged(mtu, of: wish.peripheral) }
        do throws(SystemError) {
            let channel = try NotificationChannel(owning: number) { [unowned self] value in
                onEvent?(.notified(address, characteristic, value))
            } onEnd: { [weak self] in
                guard let self, isCurrent(wish) else { return }
                // BlueZ closes the descriptors just before it says that the link is down.
                wish.peripheral.deafTimer.arm(after: timing.deafness)
            }
            begun(wish, .byDescriptor(channel))
        } catch {
            let error = BluetoothError(.other, text: error.description)
            end(wish) { .subscribeFailed(address, characteristic, error) }
        }
    }

    /// A link that stays up without its descriptors brings nothing any more.
    func linkIsDeaf(_ address: BluetoothAddress) {
        guard let peripheral = peripherals[address], peripheral.phase == .linked else { return }
        log.warning("BlueZ has ended the notifications of a connected device", [(.address, address.description)])
        drop(peripheral, because: BluetoothError(.connectionFailed, text: "BlueZ has ended the notifications"))
    }

    // MARK: By signals

    /// bluetoothd keeps the registration of an earlier connection and then sends each value once for each of them: it is
    /// taken back first. Seen with bluetoothd 5.66.
    private func startNotify(_ wish: Subscription) {
        endSession(wish) { $0.notifyBySignals(wish) }
    }

    private func notifyBySignals(_ wish: Subscription) {
        var wish = wish
        // Our own session has been ended: what is left is somebody else's.
        if tree.characteristics[wish.path]?.isNotifying == true { wish.echoes = EchoFilter() }
        notifying[wish.path] = wish
        callCharacteristic(wish.path, "StartNotify") { [weak self] result in
            guard let self, isCurrent(wish) else { return }
            switch result {
            case .success: askMTU(wish) { $0.begun(wish, .bySignal) }
            case .failure(let error): failed(wish, error)
            }
        }
    }

    /// Ends a session of ours by signals; that there is none is no failure.
    private func endSession(_ wish: Subscription, then next: @escaping @LoopActor (BlueZCentral) -> Void) {
        callCharacteristic(wish.path, "StopNotify") { [weak self] _ in
            guard let self, isCurrent(wish) else { return }
            next(self)
        }
    }

    /// A property of a characteristic has changed. A value that is waited for is read without making anything else of the
    /// message: with `StartNotify` this is the way of every gesture.
    ///
    /// - Returns: whether it was such a value.
    func valueChanged(_ message: DBusMessage) -> Bool {
        guard !notifying.isEmpty, let wish = notifying[message.path], let value = Self.value(in: message) else {
            return false
        }
        if wish.echoes == nil || notifying[wish.path]?.echoes?.admits(value, at: .now) == true {
            onEvent?(.notified(wish.peripheral.address, wish.characteristic, value))
        }
        return true
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

    /// The MTU of a device's link, as BlueZ has it.
    func mtuChanged(_ mtu: Int, of peripheral: Peripheral) {
        let range = CentralEvent.mtuRange
        let mtu = min(max(mtu, range.lowerBound), range.upperBound)
        guard mtu != peripheral.mtu else { return }
        peripheral.mtu = mtu
        onEvent?(.mtuChanged(peripheral.address, mtu))
    }

    /// `StartNotify` is answered without the MTU, unlike `AcquireNotify`. The property exists since BlueZ 5.62.
    private func askMTU(_ wish: Subscription, then next: @escaping @LoopActor (BlueZCentral) -> Void) {
        guard wish.peripheral.mtu == nil else { return next(self) }
        let message = DBusMessage.call(
            to: BlueZNames.service, wish.path, BlueZNames.properties, "Get",
            [.string(BlueZNames.gattCharacteristic), .string("MTU")])
        call(message) { [weak self] result in
            guard let self, isCurrent(wish) else { return }
            if let mtu = (try? result.get())?.arguments.first?.integer { mtuChanged(mtu, of: wish.peripheral) }
            next(self)
        }
    }

    // MARK: How it ends

    /// Whether the link that the wish is about is still there.
    private func isCurrent(_ wish: Subscription) -> Bool { isLinked(wish.peripheral) }

    private func begun(_ wish: Subscription, _ notifications: Peripheral.Notifications) {
        end(wish, notifications) { .subscribed(wish.peripheral.address, wish.characteristic) }
    }

    private func failed(_ wish: Subscription, _ error: DBusError) {
        let reason = accessError(error, wish.peripheral)
        notifying[wish.path] = nil
        end(wish) { .subscribeFailed(wish.peripheral.address, wish.characteristic, reason) }
    }

    /// Answers each of the requests that were made meanwhile.
    private func end(
        _ wish: Subscription, _ notifications: Peripheral.Notifications? = nil, event: () -> CentralEvent
    ) {
        let peripheral = wish.peripheral
        guard case .beginning(let requests) = peripheral.notifications[wish.characteristic] else { return }
        peripheral.notifications[wish.characteristic] = notifications
        for _ in 0..<requests where isLinked(peripheral) { onEvent?(event()) }
    }
}

extension Result where Failure == DBusError {
    /// Whether the peer may still answer, as far as it knows.
    fileprivate var isTimeout: Bool {
        if case .failure(let error) = self { error.code == .timeout } else { false }
    }
}
