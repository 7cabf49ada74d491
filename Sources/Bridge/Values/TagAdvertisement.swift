/// A tag, known or not, that the Bluetooth stack has heard or is connected with.
public struct TagAdvertisement: Hashable, Sendable {
    /// Its Bluetooth address.
    public var address: String
    /// The serial that it advertises.
    public var serial: String
    /// The tag's own name; nil when it did not tell one.
    public var name: String?
    /// Signal strength in dBm; nil or 127 when it is not available.
    public var rssi: Int?
    /// Whether the host is connected with it: a connected tag does not advertise.
    public var isConnected: Bool

    /// Describes a tag.
    public init(address: String, serial: String, name: String?, rssi: Int?, isConnected: Bool = false) {
        self.address = address
        self.serial = serial
        self.name = name
        self.rssi = rssi
        self.isConnected = isConnected
    }

    /// The signal strength, without the number that stands for none.
    var knownRSSI: Int? { rssi == TagSighting.signalNotAvailable ? nil : rssi }
}
