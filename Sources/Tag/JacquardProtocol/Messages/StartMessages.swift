/// The response to hello: the protocol versions that the tag supports, and its manufacturer.
///
/// Source: `HelloResponse`, extension 100 of `Response`.
public struct HelloResponse: Equatable, Sendable {
    /// The lowest version.
    public var protocolMinimum: UInt32
    /// The highest version.
    public var protocolMaximum: UInt32
    /// The vendor's name, such as `Google Inc.`.
    public var vendor: String
    /// The model's name, such as `UJT`.
    public var model: String
    /// Purpose unknown; no SDK reads it.
    public var authChallenge: [UInt8]?
    /// The vendor's number.
    public var vendorID: JacquardIdentifier?
    /// The product's number.
    public var productID: JacquardIdentifier?

    /// Creates a response.
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

    /// The only version that the SDKs and this module support.
    public static let supportedProtocol: UInt32 = 2

    /// Whether the tag supports exactly that version.
    public var isSupported: Bool {
        protocolMinimum == Self.supportedProtocol && protocolMaximum == Self.supportedProtocol
    }

    /// Which versions the tag supports instead, as a clause.
    var unsupportedVersion: String {
        let versions =
            protocolMinimum == protocolMaximum
            ? "version \(protocolMinimum)" : "versions \(protocolMinimum) to \(protocolMaximum)"
        return "the tag supports protocol \(versions), this bridge supports version \(Self.supportedProtocol)"
    }
}

extension HelloResponse: WireMessage {
    init() {
        self.init(protocolMinimum: 0, protocolMaximum: 0, vendor: "", model: "")
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &protocolMinimum, "HelloResponse.protocol_min")
        try fields.required(2, &protocolMaximum, "HelloResponse.protocol_max")
        try fields.required(3, &vendor, "HelloResponse.vendor")
        try fields.required(4, &model, "HelloResponse.model")
        try fields.optional(5, &authChallenge)
        try fields.optional(6, &vendorID)
        try fields.optional(7, &productID)
    }
}

/// Chooses the protocol version for this connection.
///
/// Source: `BeginRequest`, extension 101 of `Request`.
public struct BeginRequest: Equatable, Sendable {
    /// The version.
    public var protocolVersion: UInt32
    /// Purpose unknown; no SDK sends it.
    public var authChallenge: [UInt8]?
    /// Purpose unknown; no SDK sends it.
    public var authResponse: [UInt8]?

    /// Creates a request.
    public init(protocolVersion: UInt32) {
        self.protocolVersion = protocolVersion
    }
}

extension BeginRequest: WireMessage {
    init() {
        self.init(protocolVersion: 0)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &protocolVersion, "BeginRequest.protocol")
        try fields.optional(2, &authChallenge)
        try fields.optional(3, &authResponse)
    }
}

/// The response to begin. Its presence accepts the version; real tags send it empty.
///
/// Source: `BeginResponse`, extension 101 of `Response`.
public struct BeginResponse: Equatable, Sendable, WireMessage {
    /// Purpose unknown; no SDK reads it.
    public var authResponse: [UInt8]?

    /// Creates an empty response.
    public init() {}

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &authResponse)
    }
}

/// Reads what a component is.
///
/// Source: `DeviceInfoRequest`, extension 103 of `Request`.
public struct DeviceInfoRequest: Equatable, Sendable, WireMessage {
    /// The component; 0 is the tag.
    public var component: UInt32?

    /// Creates a request that names no component.
    public init() {}

    /// Creates a request for one component.
    public init(component: UInt32) {
        self.component = component
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &component)
    }
}

/// The description of the tag or its gear.
///
/// Source: `DeviceInfoResponse`, extension 103 of `Response`.
public struct DeviceInfoResponse: Equatable, Sendable {
    /// The vendor's name, such as `Google Inc.`.
    public var vendor: String
    /// The model's name, such as `UJT`.
    public var model: String
    /// The hardware revision; 4 on a real tag.
    public var revision: UInt32
    /// The manufacturer's serial number, such as `0-07-9324FLHBK0003R-1903`.
    public var uuid: String
    /// The firmware's version: three fields, of which an absent one counts as 0; nil if all are absent.
    public var firmware: FirmwareVersion?
    /// The boot loader's version, with the same rule.
    public var bootloader: FirmwareVersion?
    /// The vendor's number.
    public var vendorID: JacquardIdentifier?
    /// The product's number.
    public var productID: JacquardIdentifier?
    /// A text that identifies the piece of gear; not used by the SDKs.
    public var gearID: String?
    /// A text that identifies the article; not used by the SDKs.
    public var skuID: String?
    /// The version of the gesture recognition; not used by the SDKs.
    public var mlVersion: String?

    /// Creates a response with the required fields only.
    public init(vendor: String, model: String, revision: UInt32, uuid: String) {
        self.vendor = vendor
        self.model = model
        self.revision = revision
        self.uuid = uuid
    }

    /// The tag as a component, if this is its response: with the SDK's names, and an LED as the only capability.
    ///
    /// An absent number is the one that all tags have.
    public var tagComponent: Component {
        let product = productID ?? .tag
        return Component(
            componentID: Component.tagComponentID,
            vendor: Component.Name(id: vendorID ?? .google, name: vendor),
            product: Component.Name(id: product, name: product.description),
            capabilities: [.led],
            version: firmware,
            uuid: uuid)
    }
}

extension DeviceInfoResponse: WireMessage {
    init() {
        self.init(vendor: "", model: "", revision: 0, uuid: "")
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &vendor, "DeviceInfoResponse.vendor")
        try fields.required(2, &model, "DeviceInfoResponse.model")
        try fields.required(3, &revision, "DeviceInfoResponse.revision")
        try fields.required(4, &uuid, "DeviceInfoResponse.uuid")
        try fields.version(5, 6, 7, &firmware)
        try fields.version(8, 9, 10, &bootloader)
        try fields.optional(11, &vendorID)
        try fields.optional(12, &productID)
        try fields.optional(13, &gearID)
        try fields.optional(14, &skuID)
        try fields.optional(15, &mlVersion)
    }
}

extension FieldVisitor {
    /// A version in three fields.
    mutating func version(
        _ majorNumber: UInt32, _ minorNumber: UInt32, _ microNumber: UInt32, _ version: inout FirmwareVersion?
    ) throws(Failure) {
        var (major, minor, micro) = (version?.major, version?.minor, version?.micro)
        try optional(majorNumber, &major)
        try optional(minorNumber, &minor)
        try optional(microNumber, &micro)
        if major != nil || minor != nil || micro != nil {
            version = FirmwareVersion(major ?? 0, minor ?? 0, micro ?? 0)
        }
    }
}
