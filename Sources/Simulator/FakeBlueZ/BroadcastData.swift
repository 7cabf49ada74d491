/// The data that a device advertises.
public struct BroadcastData: Hashable, Sendable {
    /// Local name.
    public var name: String
    /// Services, 128-bit UUIDs in lower case.
    public var services: [String]
    /// Bytes behind the company's number.
    public var manufacturerData: [UInt16: [UInt8]]
    /// How strong it arrives, in dBm.
    public var rssi: Int16

    /// Describes an advertisement.
    public init(name: String, services: [String], manufacturerData: [UInt16: [UInt8]], rssi: Int16) {
        self.name = name
        self.services = services
        self.manufacturerData = manufacturerData
        self.rssi = rssi
    }
}

/// An adapter's data of a device from its advertisements.
struct AdvertisedData {
    private(set) var name: String?
    private(set) var uuids: [String] = []
    private(set) var manufacturerData: [UInt16: [UInt8]] = [:]
    /// The received signal strength; nil while no scan is running.
    private(set) var rssi: Int16?

    /// Minimum change in dB that bluetoothd signals without a filter: `RSSI_THRESHOLD`.
    private static let rssiThreshold = 8

    /// Takes over what a discovery has heard.
    ///
    /// - Parameters:
    ///   - broadcast: what was heard.
    ///   - isFiltered: whether every client of the discovery has set a filter: each RSSI is signalled then.
    ///   - reportsDuplicates: whether unchanged data is signalled.
    /// - Returns: the properties to signal.
    mutating func take(_ broadcast: BroadcastData, isFiltered: Bool, reportsDuplicates: Bool) -> [String] {
        var changed: [String] = []
        if isFiltered || rssi.map({ abs(Int($0) - Int(broadcast.rssi)) >= Self.rssiThreshold }) ?? true {
            rssi = broadcast.rssi
            changed.append("RSSI")
        }
        if name != broadcast.name {
            name = broadcast.name
            changed += ["Name", "Alias"]
        }
        if !Set(broadcast.services).isSubset(of: uuids) {
            uuids += broadcast.services.filter { !uuids.contains($0) }
            changed.append("UUIDs")
        }
        if reportsDuplicates || manufacturerData != broadcast.manufacturerData {
            manufacturerData = broadcast.manufacturerData
            changed.append("ManufacturerData")
        }
        return changed
    }

    /// Handles the end of the last scan.
    ///
    /// - Returns: whether a property was removed.
    mutating func forgetStrength() -> Bool {
        defer { rssi = nil }
        return rssi != nil
    }
}
