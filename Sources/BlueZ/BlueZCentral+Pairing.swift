import Bluetooth
import DBus
import EventLoop
import Logging

extension BlueZCentral {
    /// A person may have to press the tag's button meanwhile.
    private static let pairLimit = Duration.seconds(60)

    func pair(_ address: BluetoothAddress) {
        guard let path = device(address)?.path, peripherals[address]?.phase == .linked else {
            let error = BluetoothError(.notFound, text: "the device is not connected")
            return EventLoop.shared.atEndOfTurn { [weak self] in self?.onEvent?(.pairFailed(address, error)) }
        }
        expected.insert(address)
        let message = DBusMessage.call(to: BlueZNames.service, path, BlueZNames.device, "Pair")
        call(message, within: Self.pairLimit) { [weak self] result in
            guard let self, peripherals[address] != nil else { return }
            switch result {
            case .success: trust(path, address)
            case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": trust(path, address)
            case .failure(let error): onEvent?(.pairFailed(address, BluetoothError(error)))
            }
        }
    }

    /// A trusted device may come back by itself without anybody being asked.
    private func trust(_ path: String, _ address: BluetoothAddress) {
        let message = DBusMessage.call(
            to: BlueZNames.service, path, BlueZNames.properties, "Set",
            [.string(BlueZNames.device), .string("Trusted"), .variant(.boolean(true))])
        call(message) { [weak self] result in
            if case .failure(let error) = result {
                self?.log.warning("BlueZ does not trust a bonded tag", [(.path, path), (.error, error.description)])
            }
            self?.onEvent?(.paired(address))
        }
    }

    func forget(_ address: BluetoothAddress) {
        guard let adapter, let path = device(address)?.path else {
            return EventLoop.shared.atEndOfTurn { [weak self] in self?.onEvent?(.forgotten(address, nil)) }
        }
        let message = DBusMessage.call(
            to: BlueZNames.service, adapter, BlueZNames.adapter, "RemoveDevice", [.objectPath(path)])
        call(message) { [weak self] result in
            guard let self else { return }
            lost(address, nil)
            switch result {
            case .success: onEvent?(.forgotten(address, nil))
            case .failure(let error) where error.name == "org.bluez.Error.DoesNotExist":
                onEvent?(.forgotten(address, nil))
            case .failure(let error): onEvent?(.forgotten(address, BluetoothError(error)))
            }
        }
    }
}
