import JacquardProtocol

/// `T/gear`.
struct GearDocument: Encodable {
    @OrNull var attached: Bool?
    @OrNull var vendor: String?
    @OrNull var vendorID: String?
    @OrNull var product: String?
    @OrNull var productID: String?
    @OrNull var capabilities: [String]?
    @OrNull var firmware: String?
    @OrNull var time: String?

    /// All values are null until the tag has reported its gear. Without gear, only `attached` has a value.
    init(_ gear: Timestamped<Component?>?) {
        let component = gear.flatMap(\.value)
        attached = gear.map { $0.value != nil }
        vendor = component?.vendor.name.nonEmpty
        vendorID = component?.vendor.id.description
        product = component?.product.name.nonEmpty
        productID = component?.product.id.description
        capabilities = component.map { Capability.allCases.filter($0.capabilities.contains).map(\.word) }
        firmware = component?.version?.description
        time = component == nil ? nil : gear?.at.text
    }

    private enum CodingKeys: String, CodingKey {
        case attached, vendor, product, capabilities, firmware, time
        case vendorID = "vendor_id"
        case productID = "product_id"
    }
}

extension String {
    /// The text; nil if it is empty.
    var nonEmpty: String? { isEmpty ? nil : self }
}
