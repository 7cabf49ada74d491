/// The combined advertisement and scan response of a device, and whether it is bonded or connected.
public struct Advertisement: Hashable, Sendable {
    /// The local name; nil if there is none.
    public var name: String?
    /// Manufacturer specific data by company identifier, without the identifier's own bytes.
    public var manufacturerData: [UInt16: [UInt8]]
    /// Signal strength in dBm; nil if it is not available (127 in the protocol).
    public var rssi: Int?

    /// Whether this host has a bond with the device.
    public var isPaired: Bool
    /// Whether this host has a link with the device, made by any program. A connected device does not advertise.
    public var isConnected: Bool

    /// Creates an advertisement. An RSSI of 127 becomes nil.
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
