import Bluetooth
import DBus
import EventLoop

/// Access to the characteristics of a linked device.
extension BlueZCentral {
    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, of address: BluetoothAddress, _ type: WriteType
    ) {
        guard let (peripheral, path) = place(of: characteristic, address) else {
            return tellLater(.writeFailed(address, Self.notThere))
        }
        // The type is always told: without it BlueZ chooses by the flags, and a tag may refuse what they promise.
        let options = DBusValue.properties([("type", .string(type == .withResponse ? "request" : "command"))])
        callCharacteristic(path, "WriteValue", [.bytes(value), options]) { [weak self] result in
            guard let self, isLinked(peripheral) else { return }
            switch result {
            case .success: onEvent?(.written(address))
            case .failure(let error): onEvent?(.writeFailed(address, accessError(error, peripheral)))
            }
        }
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
        let isPaired = device(peripheral.address)?.object.isPaired ?? false
        return failure.code == .authenticationFailed && isPaired ? Self.bondLost(failure) : failure
    }

    func callCharacteristic(
        _ path: String, _ member: String, _ arguments: [DBusValue] = [],
        completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        call(
            .call(to: BlueZNames.service, path, BlueZNames.gattCharacteristic, member, arguments),
            completion: completion)
    }
}
