import Bluetooth
import Time

/// Advertisements, and what is reported about the proxy itself.
extension ProxyRadio {
    mutating func receive(_ advertisement: RawAdvertisement, at now: Instant) {
        let address = BluetoothAddress(number: advertisement.address)
        let isWanted = links[address] != nil
        guard isWanted || scanned != nil || watched != nil else { return }
        let known = received[address]
        // Most devices around are of no interest. A tag's own advertisement contains its service.
        guard known != nil || isWanted || AdvertisementData.names(scanned, or: watched, in: advertisement.data) else {
            return
        }
        var data = AdvertisementData(advertisement.data)
        if var merged = known?.data {
            merged.merge(data)
            data = merged
        }
        makeRoom(for: address)
        received[address] = Received(data: data, addressType: advertisement.addressType, at: now)
        guard isOfService(data) else { return }
        report(
            .discovered(
                address,
                Advertisement(
                    name: data.name, manufacturerData: data.manufacturerData, rssi: Int(advertisement.rssi),
                    isPaired: bonds.contains(address))))
    }

    private func isOfService(_ data: AdvertisementData) -> Bool {
        [scanned, watched].contains { $0.map(data.services.contains) ?? false }
    }

    private mutating func makeRoom(for address: BluetoothAddress) {
        guard received[address] == nil, received.count >= Self.mostReceived else { return }
        if let oldest = received.min(by: { $0.value.at < $1.value.at })?.key { received[oldest] = nil }
    }

    mutating func reportScanning() {
        let isScanning = scanned != nil && state == .poweredOn && scanner != .failed
        guard isScanning != isReportedScanning else { return }
        isReportedScanning = isScanning
        report(.scanning(isScanning))
    }

    mutating func publishAdapters() {
        var adapter = Adapter(
            id: name, address: BluetoothAddress(info.bluetoothAddress), state: state,
            // ESPHome pauses its scanner while it connects, and between two rounds.
            isDiscovering: state == .poweredOn && scanner != .failed,
            connectedCount: links.values.count { $0.phase == .linked })
        adapter.linkLimit = allLinks.map { Int($0) }
        adapter.fault = fault
        guard [adapter] != reportedAdapters else { return }
        reportedAdapters = [adapter]
        report(.adaptersChanged([adapter]))
    }
}
