import DBus
import EventLoop

/// A client that has set a filter, discovers, or both. The filter stays when the discovery ends.
struct Discoverer {
    var filter: DiscoveryFilter?
    var isActive = false
}

extension Adapter1 {
    var isDiscovering: Bool { discoverers.values.contains(where: \.isActive) }

    func setDiscoveryFilter(_ call: BusCall) {
        guard storage.isPowered else { return call.refuse(.notReady) }
        do {
            let filter = try DiscoveryFilter.parse(call.arguments[0])
            discoverers[call.sender, default: Discoverer()].filter = filter
            call.reply()
        } catch {
            call.refuse(error)
        }
    }

    func startDiscovery(_ call: BusCall) {
        guard storage.isPowered else { return call.refuse(.notReady) }
        let discoverer = discoverers[call.sender, default: Discoverer()]
        guard !discoverer.isActive else { return call.refuse(.busy) }
        let wasDiscovering = isDiscovering
        discoverers[call.sender] = Discoverer(filter: discoverer.filter, isActive: true)
        if !wasDiscovering { changed("Discovering") }
        call.reply()
        listen()
    }

    func stopDiscovery(_ call: BusCall) {
        guard storage.isPowered else { return call.refuse(.notReady) }
        guard discoverers[call.sender]?.isActive == true else { return call.refuse(.noDiscovery) }
        discoverers[call.sender]?.isActive = false
        if !isDiscovering { discoveryHasEnded() }
        call.reply()
    }

    func discovererLeft(_ client: String) {
        guard let discoverer = discoverers.removeValue(forKey: client) else { return }
        if discoverer.isActive, !isDiscovering { discoveryHasEnded() }
    }

    /// Ends the discovery of all clients and forgets their filters, as a loss of power does.
    func endDiscovery() {
        let wasDiscovering = isDiscovering
        discoverers = [:]
        if wasDiscovering { discoveryHasEnded() }
    }

    /// Reports an advertising device if a discovery matches it.
    func discover(_ peripheral: any Peripheral) {
        let active = discoverers.values.filter(\.isActive)
        guard let broadcast = peripheral.broadcast,
            active.contains(where: { $0.filter?.matches(broadcast, address: peripheral.address) ?? true })
        else {
            return
        }
        let known = device(peripheral)
        let found = known ?? Device1(peripheral, on: self, bond: nil)
        if known == nil { add(found) }
        found.heard(
            broadcast, isFiltered: active.allSatisfy { $0.filter != nil },
            reportsDuplicates: active.contains { $0.filter?.reportsDuplicates == true })
    }

    private func discoveryHasEnded() {
        changed("Discovering")
        for device in devices { device.discoveryHasEnded() }
    }
}
