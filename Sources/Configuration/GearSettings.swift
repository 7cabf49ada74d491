/// One product of the configuration's list `gear`. A key that is not set stays as the built-in catalogue has it.
public struct GearSettings: Hashable, Sendable {
    /// The keys of an item of `gear`.
    enum Key: String, ConfigurationKey {
        case vendorID = "vendor_id"
        case productID = "product_id"
        case vendor, product, capabilities
    }

    /// What gear can do, as `T/gear` spells it.
    public enum Capability: String, CaseIterable, Sendable {
        case led, gesture
        case touchDataStream = "touch_data_stream"
        case haptic
    }

    /// The list has at most this many items.
    static let mostItems = 64

    /// Four pairs of hexadecimal digits such as `74-a8-ce-54`, lower case, as in `T/gear`.
    public var vendorID: String
    /// The same for the product.
    public var productID: String
    /// The vendor's name.
    public var vendor: String?
    /// The product's name.
    public var product: String?
    /// What it can do; commands for anything else are refused.
    public var capabilities: Set<Capability>?
}
