import Bluetooth
import DBus
import EventLoop
import Logging

extension BlueZCentral {
    /// How long the service may be missing after BlueZ has said that all services are resolved: its objects come at
    /// about the same time, before or behind.
    private static let grace = Duration.seconds(3)

    // MARK: Discovery

    func discover(_ service: BluetoothUUID, _ characteristics: [BluetoothUUID], of address: BluetoothAddress) {
        peripherals[address]?.wanted = (service, characteristics)
        EventLoop.shared.atEndOfTurn { [weak self] in self?.finishDiscoveries() }
    }

    /// Looks whether what is wanted is there now. `ServicesResolved` may be true before the objects are, so they count.
    func finishDiscoveries() {
        for (address, peripheral) in peripherals where peripheral.wanted != nil && peripheral.phase == .linked {
            guard let wanted = peripheral.wanted, let device = device(address), device.object.isResolved else {
                continue
            }
            let found = tree.characteristics(of: wanted.service, on: device.path)
            if let found, wanted.characteristics.allSatisfy({ found[$0] != nil }) {
                peripherals[address]?.wanted = nil
                peripherals[address]?.characteristics = found.mapValues(\.path)
                onEvent?(.characteristicsDiscovered(address, found.mapValues(\.properties)))
            } else {
                expectSoon(address, isServiceThere: found != nil)
            }
        }
    }

    private func expectSoon(_ address: BluetoothAddress, isServiceThere: Bool) {
        let now = ContinuousClock.now
        guard let missingAt = peripherals[address]?.missingAt else {
            peripherals[address]?.missingAt = now + Self.grace
            let timer = LoopTimer { [weak self] in self?.finishDiscoveries() }
            timer.arm(after: Self.grace)
            peripherals[address]?.graceTimer = timer
            return
        }
        guard missingAt <= now else { return }
        peripherals[address]?.wanted = nil
        let error =
            isServiceThere
            ? BluetoothError(.characteristicMissing, text: "a characteristic of the service is missing")
            : BluetoothError(.serviceMissing, text: "the device does not offer the service")
        onEvent?(.discoveryFailed(address, error))
    }

    // MARK: Notifications

    /// By descriptor if BlueZ gives one: half the time and work of a signal. Else by signals.
    func subscribe(_ characteristic: BluetoothUUID, of address: BluetoothAddress) {
        guard let path = path(of: characteristic, address) else {
            return fail(.subscribeFailed(address, characteristic, Self.notThere))
        }
        callCharacteristic(path, "AcquireNotify", [.properties([])]) { [weak self] result in
            guard let self, path == self.path(of: characteristic, address) else { return }
            switch result {
            case .success(let message): acquired(message, characteristic, address)
            case .failure(let error) where Self.refusesDescriptors(error): startNotify(path, characteristic, address)
            case .failure(let error):
                onEvent?(.subscribeFailed(address, characteristic, BluetoothError(error)))
            }
        }
    }

    /// Errors that mean "not by descriptor" and not "not at all".
    private static func refusesDescriptors(_ error: DBusError) -> Bool {
        [
            "org.bluez.Error.NotSupported", "org.bluez.Error.NotPermitted", "org.bluez.Error.InProgress",
            "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.NotSupported",
        ].contains(error.name)
    }

    private func acquired(_ message: DBusMessage, _ characteristic: BluetoothUUID, _ address: BluetoothAddress) {
        guard case .descriptor(let descriptor)? = message.arguments.first, let number = descriptor.take() else {
            let error = BluetoothError(.other, text: "AcquireNotify is answered without a descriptor")
            onEvent?(.subscribeFailed(address, characteristic, error))
            return
        }
        do throws(SystemError) {
            let channel = try NotificationChannel(owning: number) { [unowned self] value in
                onEvent?(.notified(address, characteristic, value))
            } onEnd: { [weak self] in
                self?.channelEnded(address)
            }
            peripherals[address]?.channels.append(channel)
            onEvent?(.subscribed(address, characteristic))
        } catch {
            onEvent?(.subscribeFailed(address, characteristic, BluetoothError(.other, text: error.description)))
        }
    }

    /// BlueZ closes the descriptors just before it says that the link is down. A link that stays up without them is deaf.
    private func channelEnded(_ address: BluetoothAddress) {
        guard peripherals[address]?.phase == .linked, peripherals[address]?.graceTimer == nil else { return }
        let timer = LoopTimer { [weak self] in
            guard let self, peripherals[address]?.phase == .linked else { return }
            log.warning("BlueZ has ended the notifications of a connected device", [(.address, address.description)])
            peripherals[address]?.phase = .disconnecting
            takeDown(address) { [weak self] in
                self?.lost(address, BluetoothError(.connectionFailed, text: "BlueZ has ended the notifications"))
            }
        }
        timer.arm(after: .seconds(2))
        peripherals[address]?.graceTimer = timer
    }

    /// bluetoothd keeps the registration of an earlier connection and then sends each value once for each of them: it is
    /// taken back first.
    private func startNotify(_ path: String, _ characteristic: BluetoothUUID, _ address: BluetoothAddress) {
        notifying[path] = (address, characteristic)
        callCharacteristic(path, "StopNotify") { [weak self] _ in
            self?.callCharacteristic(path, "StartNotify") { [weak self] result in
                guard let self, path == self.path(of: characteristic, address) else { return }
                switch result {
                case .success: onEvent?(.subscribed(address, characteristic))
                case .failure(let error):
                    notifying[path] = nil
                    onEvent?(.subscribeFailed(address, characteristic, BluetoothError(error)))
                }
            }
        }
    }

    /// A property of a characteristic has changed. Of all of them only the value matters, and that is read without making
    /// the others: with `StartNotify` this is the way of every gesture.
    func valueChanged(_ message: DBusMessage) {
        guard let target = notifying[message.path] else { return }
        var reader = DBusReader(message)
        reader.skip()
        guard var entries = reader.inside() else { return }
        while var entry = entries.inside() {
            if entry.isString("Value") {
                entry.skip()
                guard var variant = entry.inside(), let value = variant.bytes() else { return }
                onEvent?(.notified(target.address, target.characteristic, value))
                return
            }
            entries.skip()
        }
    }

    // MARK: Writing

    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, of address: BluetoothAddress, _ type: WriteType
    ) {
        guard let path = path(of: characteristic, address) else { return fail(.writeFailed(address, Self.notThere)) }
        // The type is always told: without it BlueZ chooses by the flags, and a tag may refuse what they promise.
        let options = DBusValue.properties([("type", .string(type == .withResponse ? "request" : "command"))])
        callCharacteristic(path, "WriteValue", [.bytes(value), options]) { [weak self] result in
            guard let self, path == self.path(of: characteristic, address) else { return }
            switch result {
            case .success: onEvent?(.written(address))
            case .failure(let error): onEvent?(.writeFailed(address, BluetoothError(error)))
            }
        }
    }

    // MARK: Calls

    private static let notThere = BluetoothError(.characteristicMissing, text: "the characteristic is not there")

    private func path(of characteristic: BluetoothUUID, _ address: BluetoothAddress) -> String? {
        guard let peripheral = peripherals[address], peripheral.phase == .linked else { return nil }
        return peripheral.characteristics[characteristic]
    }

    /// Tells a failure that is known at once, in a later turn like any other.
    private func fail(_ event: CentralEvent) {
        EventLoop.shared.atEndOfTurn { [weak self] in self?.onEvent?(event) }
    }

    private func callCharacteristic(
        _ path: String, _ member: String, _ arguments: [DBusValue] = [],
        completion: @escaping (Result<DBusMessage, DBusError>) -> Void
    ) {
        call(
            .call(to: BlueZNames.service, path, BlueZNames.gattCharacteristic, member, arguments),
            completion: completion)
    }
}
