import DBus

/// What a client of SetDiscoveryFilter wants to hear of.
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
    func matches(_ broadcast: Broadcast, address: String) -> Bool {
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
