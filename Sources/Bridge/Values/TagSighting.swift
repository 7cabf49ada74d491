/// What the Bluetooth stack has noticed about a tag. What is nil is as it was.
public struct TagSighting: Hashable, Sendable {
    /// What Bluetooth gives as signal strength when it has none.
    ///
    /// Source: Bluetooth Core Specification, "LE Advertising Report event", RSSI.
    public static let signalNotAvailable = 127

    /// The Bluetooth address; may change.
    public var address: String?
    /// The adapter that sees it, such as `hci0`.
    public var adapter: String?
    /// Signal strength in dBm; 127 means not available.
    public var rssi: Int?
    /// The tag's own name.
    public var name: String?
    /// Whether this host has a bond with it.
    public var isPaired: Bool?

    /// Describes what was noticed.
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
