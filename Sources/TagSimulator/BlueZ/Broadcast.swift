/// What a device on the air shows to who listens.
public struct Broadcast: Hashable, Sendable {
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
