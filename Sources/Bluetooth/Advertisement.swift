/// What a device tells everyone, advertisement and scan response taken together, and whether it is known here.
public struct Advertisement: Hashable, Sendable {
    /// The local name; nil when it tells none.
    public var name: String?
    /// Manufacturer specific data by company identifier, without the identifier's own bytes.
    public var manufacturerData: [UInt16: [UInt8]]
    /// Signal strength in dBm; nil when it is not available (127 on the air).
    public var rssi: Int?

    /// Whether this host has a bond with the device.
    public var isPaired: Bool
    /// Whether this host has a link with the device, whoever has made it: then it does not advertise.
    public var isConnected: Bool

    /// Puts the parts together; an RSSI of 127 becomes nil.
    public init(
        name: String?, manufacturerData: [UInt16: [UInt8]], rssi: Int?, isPaired: Bool = false,
        isConnected: Bool = false
    ) {
        self.name = name
        self.isPaired = isPaired
        self.isConnected = isConnected
        self.manufacturerData = manufacturerData
        self.rssi = rssi == 127 ? nil : rssi
    }
}
