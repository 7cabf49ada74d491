import ProtobufWire

/// The answer to hello: which versions of the protocol the tag speaks, and who made it.
///
/// Source: `HelloResponse`, extension 100 of `Response`.
public struct HelloResponse: Hashable, Sendable {
    /// The lowest version.
    public var protocolMinimum: UInt32
    /// The highest version.
    public var protocolMaximum: UInt32
    /// Name of the vendor, such as `Google Inc.`.
    public var vendor: String
    /// Name of the model, such as `UJT`.
    public var model: String
    /// What this is for is not known; no SDK reads it.
    public var authChallenge: [UInt8]?
    /// Number of the vendor.
    public var vendorID: JacquardIdentifier?
    /// Number of the product.
    public var productID: JacquardIdentifier?

    /// Describes an answer.
    public init(
        protocolMinimum: UInt32,
        protocolMaximum: UInt32,
        vendor: String,
        model: String,
        vendorID: JacquardIdentifier? = nil,
        productID: JacquardIdentifier? = nil
    ) {
        self.protocolMinimum = protocolMinimum
        self.protocolMaximum = protocolMaximum
        self.vendor = vendor
        self.model = model
        self.vendorID = vendorID
        self.productID = productID
    }

    /// The one version that the SDKs, and so this module, speak.
    public static let supportedProtocol: UInt32 = 2

    /// Whether the tag speaks exactly that version.
    public var isSupported: Bool {
        protocolMinimum == Self.supportedProtocol && protocolMaximum == Self.supportedProtocol
    }
}

extension HelloResponse: WireMessage {
    init(_ reader: inout WireReader) throws(MessageError) {
        var minimum: UInt32?
        var maximum: UInt32?
        var vendor: String?
        var model: String?
        var authChallenge: [UInt8]?
        var vendorID: JacquardIdentifier?
        var productID: JacquardIdentifier?
        while let field = try reader.next() {
            switch field.number {
            case 1: field.read(&minimum)
            case 2: field.read(&maximum)
            case 3: field.read(&vendor)
            case 4: field.read(&model)
            case 5: field.read(&authChallenge)
            case 6: field.read(&vendorID)
            case 7: field.read(&productID)
            default: break
            }
        }
        self.init(
            protocolMinimum: try minimum.required("HelloResponse.protocol_min"),
            protocolMaximum: try maximum.required("HelloResponse.protocol_max"),
            vendor: try vendor.required("HelloResponse.vendor"),
            model: try model.required("HelloResponse.model"),
            vendorID: vendorID,
            productID: productID)
        self.authChallenge = authChallenge
    }

    func write(to writer: inout WireWriter) {
        writer.write(protocolMinimum, field: 1)
        writer.write(protocolMaximum, field: 2)
        writer.write(vendor, field: 3)
        writer.write(model, field: 4)
        writer.write(authChallenge, field: 5)
        writer.write(vendorID, field: 6)
        writer.write(productID, field: 7)
    }
}
