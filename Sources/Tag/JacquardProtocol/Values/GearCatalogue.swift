/// Names and capabilities of known gear. Gear reports only its vendor and product number.
///
/// Source: JacquardSDKiOS, `GearMetadata.json`.
public struct GearCatalogue: Hashable, Sendable {
    /// One product.
    public struct Entry: Hashable, Sendable {
        /// Number and name of the vendor.
        public let vendor: Component.Name
        /// Number and name of the product.
        public let product: Component.Name
        /// The capabilities.
        public let capabilities: Set<Capability>

        /// Creates an entry.
        public init(vendor: Component.Name, product: Component.Name, capabilities: Set<Capability>) {
            self.vendor = vendor
            self.product = product
            self.capabilities = capabilities
        }
    }

    /// All products. If two have the same numbers, the later one applies.
    public let entries: [Entry]

    /// Creates a catalogue. To extend the built-in one, use `GearCatalogue(GearCatalogue.builtIn.entries + own)`.
    public init(_ entries: [Entry]) {
        self.entries = entries
    }

    /// Describes attached gear, version and serial number not yet known.
    ///
    /// - Returns: the catalogue's names and capabilities; empty names and no capability for a product outside of it.
    public func component(
        vendorID: JacquardIdentifier, productID: JacquardIdentifier, componentID: UInt32
    ) -> Component {
        let entry = entries.last { $0.vendor.id == vendorID && $0.product.id == productID }
        return Component(
            componentID: componentID,
            vendor: entry?.vendor ?? Component.Name(id: vendorID, name: ""),
            product: entry?.product ?? Component.Name(id: productID, name: ""),
            capabilities: entry?.capabilities ?? [])
    }

    /// The name of a vendor; empty for one outside of the catalogue.
    public func vendorName(_ id: JacquardIdentifier) -> String {
        entries.last { $0.vendor.id == id }?.vendor.name ?? ""
    }

    /// The products that Google's SDK knows.
    public static let builtIn = GearCatalogue([
        Entry(
            vendor: name(0x74A8_CE54, "Levi's"), product: name(0x8A66_50F4, "Trucker Jacket"),
            capabilities: [.gesture, .touchDataStream, .haptic]),
        Entry(
            vendor: name(0x87B4_30B6, "Samsonite"), product: name(0xB707_972A, "Konnect-i"),
            capabilities: [.gesture, .touchDataStream, .haptic]),
        Entry(
            vendor: name(0xFB57_A112, "Saint Laurent"), product: name(0x5CD8_78B0, "Cit-e Backpack"),
            capabilities: [.led, .gesture, .touchDataStream, .haptic]),
        Entry(
            vendor: name(0x1178_30C8, "Google"), product: name(0x1529_C75B, "Patch A0"),
            capabilities: [.gesture, .touchDataStream, .haptic]),
        Entry(
            vendor: name(0x1178_30C8, "Google"), product: name(0x092F_41AB, "Patch B0"),
            capabilities: [.led, .gesture, .touchDataStream, .haptic]),
    ])

    private static func name(_ number: UInt32, _ name: String) -> Component.Name {
        Component.Name(id: JacquardIdentifier(rawValue: number), name: name)
    }
}
