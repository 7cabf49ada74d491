import Bluetooth
import EventLoop
import Time

/// Finding services and characteristics.
extension BlueZCentral {
    func discover(_ service: BluetoothUUID, _ characteristics: [BluetoothUUID], of address: BluetoothAddress) {
        guard let peripheral = peripherals[address], peripheral.phase == .linked else {
            return tellLater(.discoveryFailed(address, Self.notConnected))
        }
        peripheral.searches.append(ServiceSearch(service, characteristics, timing: timing, now: .now))
        EventLoop.shared.atEndOfTurn { [weak self] in self?.continueSearches(of: address) }
    }

    /// Looks whether what is wanted of a device is there now.
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
        peripheral.searchTimer.arm(at: open.map(\.deadline).min())
        for outcome in outcomes { tell(outcome, of: peripheral) }
    }

    /// A characteristic has come; it may be one that is waited for.
    func characteristicAdded(_ path: String) {
        let searching = peripherals.values.filter { !$0.searches.isEmpty }
        for peripheral in searching where device(peripheral.address).map({ path.hasPrefix($0.path + "/") }) ?? false {
            continueSearches(of: peripheral.address)
        }
    }

    private func tell(_ outcome: ServiceSearch.Outcome, of peripheral: Peripheral) {
        let address = peripheral.address
        // Who was told of the one before may have ended the link.
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
