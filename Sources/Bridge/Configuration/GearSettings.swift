import Text

/// One product of the list `gear`. Keys that are not set keep the values of the built-in catalogue.
public struct GearSettings: Hashable, Sendable {
    /// A capability of gear, spelled as in `T/gear`.
    public enum Capability: String, CaseIterable, Sendable {
        case led, gesture
        case touchDataStream = "touch_data_stream"
        case haptic
    }

    /// Four pairs of hexadecimal digits such as `74-a8-ce-54`, lower case, as in `T/gear`.
    public var vendorID: String
    /// The same for the product.
    public var productID: String
    /// The vendor's name.
    public var vendor: String?
    /// The product's name.
    public var product: String?
    /// The capabilities; commands that need another one are rejected.
    public var capabilities: Set<Capability>?
}

extension GearSettings {
    /// Returns whether all keys have the same values. Texts are compared as bytes.
    public static func == (left: GearSettings, right: GearSettings) -> Bool {
        keys.allSatisfy { $0.isEqual(left, right) }
    }

    /// Hashes what usually differs.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(productID)
    }

    /// The row of `gear`.
    static var list: ConfigurationKey<Settings> {
        .list(
            "gear", \.gear, of: keys, limit: 64, .gear,
            "Gear that the bridge does not know, or that you want to rename.",
            empty: GearSettings(vendorID: "", productID: ""),
            check: { items, _, findings in GearListCheck.usable(items, &findings) }
        ).example(
            comment: """
                Gear that the bridge does not know, or that you want to rename; at most 64 items. The numbers are in \
                the topic jacquard/tag/<id>/gear while a tag is attached to the gear.
                """
        ).option("Gear", "Gear that the bridge does not know, or that you want to rename")
    }

    /// The rows of an item.
    private static var keys: [ConfigurationKey<GearSettings>] {
        let number = ScalarRule<String>.gearNumber.allowed
        return [
            ConfigurationKey(
                "vendor_id", \.vendorID, .gearNumber, .gear,
                "The vendor's number, as in the topic jacquard/tag/<id>/gear."
            ).example("74-a8-ce-54", comment: "The numbers of vendor and product. Both are required.").option(
                "Number of the vendor", "As in the topic jacquard/tag/<id>/gear, such as 74-a8-ce-54"
            ).required(number),
            ConfigurationKey(
                "product_id", \.productID, .gearNumber, .gear,
                "The product's number, as in the topic jacquard/tag/<id>/gear."
            ).example("8a-66-50-f4", comment: "").option(
                "Number of the product", "As in the topic jacquard/tag/<id>/gear, such as 8a-66-50-f4"
            ).required(number),
            ConfigurationKey(
                "vendor", \.vendor, .text(bytes: 64), .gear,
                "The vendor's name. Default: the one that the bridge knows, otherwise none."
            ).example(
                "Levi's",
                comment: """
                    The names, each 1 to 64 bytes. Default: those that the bridge knows, otherwise none.
                    """
            ).option("Vendor", ""),
            ConfigurationKey(
                "product", \.product, .text(bytes: 64), .gear,
                "The product's name. Default: the one that the bridge knows, otherwise none."
            ).example("Trucker Jacket", comment: "").option("Product", ""),
            ConfigurationKey(
                "capabilities", \.capabilities, .words(), .gear,
                """
                The capabilities; commands for others are rejected. Default: those that the bridge knows, \
                otherwise none.
                """
            ).example(
                "[gesture, touch_data_stream, haptic]",
                comment: """
                    The capabilities: led, gesture, touch_data_stream, haptic. Commands for others are rejected. \
                    Default: those that the bridge knows, otherwise none.
                    """
            ).option("Capabilities", "Separated by commas: led, gesture, touch_data_stream, haptic"),
        ]
    }
}
