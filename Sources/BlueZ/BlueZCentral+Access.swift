import Bluetooth
import DBus
import EventLoop
import Time

/// A value on its way to a characteristic.
private struct Write {
    /// Pauses between attempts, and when to end them.
    struct Retries {
        var pauses: Backoff
        let deadline: Instant

        init(_ timing: Timing, at now: Instant) {
            pauses = Backoff(first: timing.busyPause, longest: timing.longestBusyPause)
            deadline = now + timing.busy
        }
    }

    let peripheral: Peripheral
    let path: String
    let arguments: [DBusValue]
    /// Set with the first attempt that BlueZ could not take.
    var retries: Retries?
}

extension DBusError {
    /// Whether the same call may succeed in a moment: BlueZ has one write of a characteristic under way, or the bus has no
    /// room. Nothing was sent to the device.
    fileprivate var isTransient: Bool {
        switch name {
        case "org.bluez.Error.InProgress", "org.freedesktop.DBus.Error.LimitsExceeded",
            "org.freedesktop.DBus.Error.NoMemory":
            true
        default: false
        }
    }
}

/// Access to the characteristics of a linked device.
extension BlueZCentral {
    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, of address: BluetoothAddress, _ type: WriteType
    ) {
        guard let (peripheral, path) = place(of: characteristic, address) else {
            return tellLater(.writeFailed(address, Self.notThere))
        }
        // The type is always given: without it BlueZ chooses by the flags, and a tag may refuse what they promise.
        let options = DBusValue.properties([("type", .string(type == .withResponse ? "request" : "command"))])
        carryOut(Write(peripheral: peripheral, path: path, arguments: [.bytes(value), options]))
    }

    private func carryOut(_ write: Write) {
        callCharacteristic(write.path, "WriteValue", write.arguments) { [weak self] result in
            guard let self, isLinked(write.peripheral) else { return }
            let address = write.peripheral.address
            switch result {
            case .success: onEvent?(.written(address))
            case .failure(let error) where error.isTransient: retry(write, error)
            case .failure(let error): onEvent?(.writeFailed(address, accessError(error, write.peripheral)))
            }
        }
    }

    /// Repeats a write that BlueZ or the bus could not take, while there is time.
    private func retry(_ write: Write, _ error: DBusError) {
        var write = write
        let now = Instant.now
        let retries = write.retries ?? Write.Retries(timing, at: now)
        guard now < retries.deadline else {
            let failure = BluetoothError(.busy, name: error.name, text: error.text)
            onEvent?(.writeFailed(write.peripheral.address, failure))
            return
        }
        var next = retries
        let pause = next.pauses.next()
        write.retries = next
        let repeated = write
        write.peripheral.writeTimer = LoopTimer { [weak self] in
            guard let self, isLinked(repeated.peripheral) else { return }
            repeated.peripheral.writeTimer = nil
            carryOut(repeated)
        }
        write.peripheral.writeTimer?.arm(at: min(now + pause, next.deadline))
    }

    static let notThere = BluetoothError(.characteristicMissing, text: "the characteristic is not there")

    /// Whose a characteristic is, and where; nil while there is no link or it is not discovered.
    func place(of characteristic: BluetoothUUID, _ address: BluetoothAddress) -> (Peripheral, path: String)? {
        guard let peripheral = peripherals[address], isLinked(peripheral),
            let path = peripheral.characteristics[characteristic]
        else { return nil }
        return (peripheral, path)
    }

    /// Whether this is the present link with the device, and up: answers that are about another one come too late.
    func isLinked(_ peripheral: Peripheral) -> Bool {
        peripheral.phase == .linked && peripherals[peripheral.address] === peripheral
    }

    /// A device that wants an encrypted link although BlueZ has a bond with it has lost its own half.
    func accessError(_ error: DBusError, _ peripheral: Peripheral) -> BluetoothError {
        let failure = BluetoothError(error)
        guard failure.code == .authenticationFailed else { return failure }
        guard !isPaired(peripheral) else { return Self.bondLost(failure) }
        bondWishes.note(peripheral.address, wantsBond: true)
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
