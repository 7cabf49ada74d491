/// Facts about a tag from the Bluetooth stack. A nil value means unchanged.
public struct TagSighting: Hashable, Sendable {
    /// The Bluetooth address; may change.
    public var address: String?
    /// The adapter that receives it, such as `hci0`.
    public var adapter: String?
    /// The radio that receives it or is connected with it; nil if the bridge has one radio.
    public var radio: String?
    /// Signal strength in dBm.
    public var rssi: Int?
    /// The tag's own name.
    public var name: String?
    /// Whether this host has a bond with it.
    public var isPaired: Bool?

    /// Creates a set of facts.
    public init(
        address: String? = nil,
        adapter: String? = nil,
        rssi: Int? = nil,
        name: String? = nil,
        isPaired: Bool? = nil,
        radio: String? = nil
    ) {
        self.radio = radio
        self.address = address
        self.adapter = adapter
        self.rssi = rssi
        self.name = name
        self.isPaired = isPaired
    }
}

/// A tag, known or not, that advertises or is connected to the host.
public struct TagAdvertisement: Hashable, Sendable {
    /// Its Bluetooth address.
    public var address: String
    /// The serial that it advertises.
    public var serial: String
    /// The tag's own name; nil if it does not advertise one.
    public var name: String?
    /// Signal strength in dBm; nil if it is not available.
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
}
