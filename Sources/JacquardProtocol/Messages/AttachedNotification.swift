import ProtobufWire

/// Gear was attached or detached.
///
/// Source: `AttachedNotification`, extension 109 of `Notification`.
public struct AttachedNotification: Hashable, Sendable {
    /// Whether gear is attached now.
    public var isAttached: Bool?
    /// Number of the gear's vendor.
    public var vendorID: JacquardIdentifier?
    /// Number of the gear's product.
    public var productID: JacquardIdentifier?
    /// The component number that the gear has for as long as it stays attached.
    public var componentID: UInt32?

    /// Says nothing, which means detached.
    public init() {}

    /// Says that this gear is attached.
    public init(vendorID: JacquardIdentifier, productID: JacquardIdentifier, componentID: UInt32) {
        isAttached = true
        self.vendorID = vendorID
        self.productID = productID
        self.componentID = componentID
    }

    /// The attached gear as the catalogue knows it.
    ///
    /// - Returns: nil for "no gear": always, unless the state is true and all three numbers are there, as in the SDK.
    public func gear(in catalogue: GearCatalogue) -> Component? {
        guard isAttached == true, let vendorID, let productID, let componentID else { return nil }
        return catalogue.component(vendorID: vendorID, productID: productID, componentID: componentID)
    }
}

extension AttachedNotification: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&isAttached)
        case 2: field.read(&vendorID)
        case 3: field.read(&productID)
        case 4: field.read(&componentID)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(isAttached, field: 1)
        writer.write(vendorID, field: 2)
        writer.write(productID, field: 3)
        writer.write(componentID, field: 4)
    }
}
