import Bluetooth
import Bridge
import Configuration
import Doctor
import EventLoop
import Jacquard
import JacquardProtocol
import Logging
import Radios

/// Several radios.
extension BridgeService {
    /// Receives the changes of the radios, if there are several.
    func followRadios() {
        guard let radios = central.radios else { return }
        radios.onChange = { [unowned self] in radiosReported($0) }
        for tag in store.tags.values where tag.paired {
            if let address = tag.address.flatMap({ BluetoothAddress($0) }) { radios.requireBond(with: address) }
        }
    }

    private func radiosReported(_ change: RadioCentral.Change) {
        switch change {
        case .linked(let address, let radio, let adapter):
            guard let tag = manager.tag(at: address) else { return }
            handle(.sighting(tag, TagSighting(address: address.description, adapter: adapter, radio: radio)))
            reportReceptions(of: tag, at: address)
        case .noBond(let address, let radios):
            guard let tag = manager.tag(at: address) else { return }
            if !radios.isEmpty {
                log(of: tag).warning(
                    "received by radios without a bond only", [(.radio, radios.joined(separator: ", "))])
            }
            handle(.radio(tag, .noBond(receivedBy: radios)))
        case .lost(let address, let error): manager.correctLoss(at: address, error)
        case .bonds(let radio, let addresses, let changed):
            for address in changed {
                if let tag = manager.tag(at: address) { reportReceptions(of: tag, at: address) }
            }
            guard configuration.bluetooth.radios?.first(where: { $0.name == radio })?.proxy != nil else { return }
            runs.keep(addresses, of: radio)
        }
    }

    /// Reports which radios receive a tag.
    func reportReceptions(of tag: TagHandle, at address: BluetoothAddress) {
        guard let radios = central.radios else { return }
        let receptions = radios.receptions(of: address).map {
            RadioReception(radio: $0.radio, rssi: $0.rssi, age: $0.age, isBonded: $0.isBonded)
        }
        handle(.radio(tag, .received(receptions)))
    }
}
