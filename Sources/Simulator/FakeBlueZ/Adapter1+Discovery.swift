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
    func discover(_ peripheral: any SimulatedPeripheral) {
        let active = discoverers.values.filter(\.isActive)
        guard let broadcast = peripheral.broadcast(at: airNumber), !crashes(active),
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

    private func crashes(_ active: [Discoverer]) -> Bool {
        guard tree.faults.crashesAtServiceFilter, active.contains(where: { $0.filter?.uuids.isEmpty == false }) else {
            return false
        }
        tree.faults.onCrash?()
        return true
    }

    private func discoveryHasEnded() {
        changed("Discovering")
        for device in devices { device.discoveryHasEnded() }
    }
}

/// The devices that a client of SetDiscoveryFilter is told about.
struct DiscoveryFilter {
    private(set) var uuids: Set<String> = []
    private(set) var reportsDuplicates = false
    private var minimumRSSI: Int16?
    private var namePrefix: String?
    private var isForClassicOnly = false

    /// Reads the dictionary of the call.
    ///
    /// - Returns: nil for an empty one, which stands for no filter.
    /// - Throws: for a key or a value that bluetoothd refuses.
    static func parse(_ value: DBusValue?) throws(BlueZError) -> DiscoveryFilter? {
        guard let entries = value?.textKeyed else { throw .invalidArguments }
        var filter = DiscoveryFilter()
        for (key, value) in entries { try filter.take(key, value.unwrapped) }
        return entries.isEmpty ? nil : filter
    }

    /// Whether a received device is reported.
    func matches(_ broadcast: BroadcastData, address: String) -> Bool {
        guard !isForClassicOnly, broadcast.rssi >= minimumRSSI ?? .min else { return false }
        if let namePrefix, !broadcast.name.hasPrefix(namePrefix), !address.hasPrefix(namePrefix) { return false }
        return uuids.isEmpty || !uuids.isDisjoint(with: broadcast.services)
    }

    private mutating func take(_ key: String, _ value: DBusValue) throws(BlueZError) {
        switch (key, value) {
        case ("UUIDs", .array(let values, element: "s")):
            uuids = Set(try values.map { value throws(BlueZError) in try Self.fullUUID(value.text ?? "") })
        case ("DuplicateData", .boolean(let flag)): reportsDuplicates = flag
        case ("RSSI", .int16(let limit)) where (-127...20).contains(limit): minimumRSSI = limit
        case ("Pathloss", .uint16(0...137)), ("Discoverable", .boolean): break
        case ("Transport", .string(let transport)) where ["auto", "le", "bredr"].contains(transport):
            isForClassicOnly = transport == "bredr"
        case ("Pattern", .string(let prefix)): namePrefix = prefix
        default: throw .invalidArguments
        }
    }

    /// The 128-bit form in lower case of a UUID of 4, 8 or 36 characters.
    private static func fullUUID(_ text: String) throws(BlueZError) -> String {
        let text = text.lowercased()
        let isHex = text.allSatisfy { $0.isHexDigit || $0 == "-" }
        switch text.utf8.count {
        case 4 where isHex: return "0000\(text)-0000-1000-8000-00805f9b34fb"
        case 8 where isHex: return "\(text)-0000-1000-8000-00805f9b34fb"
        case 36 where isHex: return text
        default: throw .invalidArguments
        }
    }
}
