import JacquardProtocol

/// `T/info`.
struct TagInfoDocument: Encodable {
    let id: String
    @OrNull var name: String?
    @OrNull var tagName: String?
    let serial: String
    @OrNull var address: String?
    @OrNull var firmware: String?
    @OrNull var vendorID: String?
    @OrNull var productID: String?
    @OrNull var uuid: String?
    let bridge: String
    @OrNull var paired: Bool?
    let gestures: [String]

    init(_ entry: TagEntry, sighting: TagSighting, component: Component?, bridge: String) {
        id = entry.id.text
        name = entry.name ?? sighting.name
        tagName = sighting.name
        serial = entry.serial
        address = sighting.address
        firmware = component?.version?.description
        vendorID = component?.vendor.id.description
        productID = component?.product.id.description
        uuid = component?.uuid
        self.bridge = bridge
        paired = sighting.isPaired
        gestures = Gesture.known.map { GestureName($0).rawValue }
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, serial, address, firmware, uuid, bridge, paired, gestures
        case tagName = "tag_name"
        case vendorID = "vendor_id"
        case productID = "product_id"
    }
}
