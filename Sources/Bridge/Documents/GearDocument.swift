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

    /// All unknown when the tag has not said yet; only `attached` known when there is no gear.
    init(_ gear: Told<Component?>?) {
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
    /// The text, or nil when there is none.
    var nonEmpty: String? { isEmpty ? nil : self }
}
