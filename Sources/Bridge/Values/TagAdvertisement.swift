/// A tag, known or not, that advertises or is connected to the host.
public struct TagAdvertisement: Hashable, Sendable {
    /// Its Bluetooth address.
    public var address: String
    /// The serial that it advertises.
    public var serial: String
    /// The tag's own name; nil if it does not advertise one.
    public var name: String?
    /// Signal strength in dBm; nil or 127 when it is not available.
    public var rssi: Int?
    /// Whether it is connected to the host: a connected tag does not advertise.
    public var isConnected: Bool

    /// Creates a description of a tag.
    public init(address: String, serial: String, name: String?, rssi: Int?, isConnected: Bool = false) {
        self.address = address
        self.serial = serial
        self.name = name
        self.rssi = rssi
        self.isConnected = isConnected
    }

    /// The signal strength; nil if it is not available.
    var knownRSSI: Int? { rssi == TagSighting.signalNotAvailable ? nil : rssi }
}
