public import JacquardProtocol

/// Gear while a tag is clipped into it.
public struct AttachedGear: Hashable, Sendable {
    /// What it is.
    public let gear: SimulatedGear
    /// The number under which the tag knows it: another one for each attachment.
    public let componentID: UInt32
    /// What it reports.
    public internal(set) var touchMode = TouchMode.gesture

    /// Whether it has a capability.
    public func can(_ capability: Capability) -> Bool {
        gear.product.capabilities.contains(capability)
    }

    /// The form in which the tag reports it.
    var notification: Notification {
        .attached(
            AttachedNotification(
                vendorID: gear.product.vendor.id, productID: gear.product.product.id, componentID: componentID))
    }
}
