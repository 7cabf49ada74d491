import JacquardProtocol

/// What a tag shows on the air, advertisement and scan response together.
public struct Advertisement: Hashable, Sendable {
    /// The local name.
    public let name: String
    /// The pairing serial in its six-bit code, behind the company identifier.
    public let manufacturerData: [UInt8]

    /// Services in lower case.
    public static let services = [JacquardService.uuid]
    /// The company whose data it is.
    public static let company = PairingSerial.companyIdentifier

    /// Describes an advertisement.
    public init(name: String, manufacturerData: [UInt8]) {
        self.name = name
        self.manufacturerData = manufacturerData
    }
}
