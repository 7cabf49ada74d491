import ProtobufWire

/// What the tag or its gear is.
///
/// Source: `DeviceInfoResponse`, extension 103 of `Response`.
public struct DeviceInfoResponse: Hashable, Sendable {
    /// Name of the vendor, such as `Google Inc.`.
    public var vendor: String
    /// Name of the model, such as `UJT`.
    public var model: String
    /// Revision of the hardware; a real tag said 4.
    public var revision: UInt32
    /// Serial number of the manufacturer, such as `0-07-9324FLHBK0003R-1903`.
    public var uuid: String
    /// Version of the firmware. Of its three fields an absent one counts as 0; nil if all are absent.
    public var firmware: FirmwareVersion?
    /// Version of the boot loader, by the same rule.
    public var bootloader: FirmwareVersion?
    /// Number of the vendor.
    public var vendorID: JacquardIdentifier?
    /// Number of the product.
    public var productID: JacquardIdentifier?
    /// A text for the piece of gear; not used by the SDKs.
    public var gearID: String?
    /// A text for the article; not used by the SDKs.
    public var skuID: String?
    /// Version of the recognition; not used by the SDKs.
    public var mlVersion: String?

    /// Describes an answer of the required fields alone.
    public init(vendor: String, model: String, revision: UInt32, uuid: String) {
        self.vendor = vendor
        self.model = model
        self.revision = revision
        self.uuid = uuid
    }

    /// The tag itself, if this is its answer: the names are those that the SDK gives, the one capability is an LED.
    ///
    /// A number that the answer lacks is that of every tag.
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
