/// Facts about a tag from the Bluetooth stack. A nil value means unchanged.
public struct TagSighting: Hashable, Sendable {
    /// The signal strength that Bluetooth reports if none is available.
    ///
    /// Source: Bluetooth Core Specification, "LE Advertising Report event", RSSI.
    public static let signalNotAvailable = 127

    /// The Bluetooth address; may change.
    public var address: String?
    /// The adapter that receives it, such as `hci0`.
    public var adapter: String?
    /// Signal strength in dBm; 127 means not available.
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
        isPaired: Bool? = nil
    ) {
        self.address = address
        self.adapter = adapter
        self.rssi = rssi
        self.name = name
        self.isPaired = isPaired
    }
}
