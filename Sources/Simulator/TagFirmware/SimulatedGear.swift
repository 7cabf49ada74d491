public import JacquardProtocol

/// A garment, bag or patch that a simulated tag can be clipped into.
public struct SimulatedGear: Hashable, Sendable {
    /// The word that people type for it, such as `jacket`.
    public let word: String
    /// Its vendor, product and abilities.
    public let product: GearCatalogue.Entry

    /// The products of the SDK's catalogue, and one that no catalogue knows.
    public static let all: [SimulatedGear] =
        GearCatalogue.builtIn.entries.compactMap { entry in
            words[entry.product.id].map { SimulatedGear(word: $0, product: entry) }
        } + [unknown]

    /// The gear of that word; nil for a word that stands for none.
    public init?(word: String) {
        guard let gear = Self.all.first(where: { $0.word == word }) else { return nil }
        self = gear
    }

    private init(word: String, product: GearCatalogue.Entry) {
        self.word = word
        self.product = product
    }

    private static let words: [JacquardIdentifier: String] = [
        JacquardIdentifier(rawValue: 0x8A66_50F4): "jacket",
        JacquardIdentifier(rawValue: 0x5CD8_78B0): "backpack",
        JacquardIdentifier(rawValue: 0xB707_972A): "konnect-i",
        JacquardIdentifier(rawValue: 0x1529_C75B): "patch-a0",
        JacquardIdentifier(rawValue: 0x092F_41AB): "patch-b0",
    ]

    /// Gear that is not in the catalogue. It supports gestures and touch.
    private static let unknown = SimulatedGear(
        word: "unknown",
        product: GearCatalogue.Entry(
            vendor: Component.Name(id: JacquardIdentifier(rawValue: 1), name: "Somebody"),
            product: Component.Name(id: JacquardIdentifier(rawValue: 2), name: "Prototype"),
            capabilities: [.gesture, .touchDataStream]))
}

/// Gear while a tag is clipped into it.
public struct AttachedGear: Hashable, Sendable {
    /// The gear.
    public let gear: SimulatedGear
    /// The number under which the tag knows it: another one for each attachment.
    public let componentID: UInt32
    /// The kind of its reports.
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
