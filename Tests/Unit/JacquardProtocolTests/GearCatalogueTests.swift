import JacquardProtocol
import Testing

@Suite("GearCatalogue")
struct GearCatalogueTests {
    @Test(
        "names the gear of Google's catalogue",
        arguments: [
            ("74-a8-ce-54", "Levi's", "8a-66-50-f4", "Trucker Jacket", [.gesture, .touchDataStream, .haptic]),
            ("87-b4-30-b6", "Samsonite", "b7-07-97-2a", "Konnect-i", [.gesture, .touchDataStream, .haptic]),
            ("fb-57-a1-12", "Saint Laurent", "5c-d8-78-b0", "Cit-e Backpack", Set(Capability.allCases)),
            ("11-78-30-c8", "Google", "15-29-c7-5b", "Patch A0", [.gesture, .touchDataStream, .haptic]),
            ("11-78-30-c8", "Google", "09-2f-41-ab", "Patch B0", Set(Capability.allCases)),
        ] as [(String, String, String, String, Set<Capability>)])
    func known(vendorID: String, vendor: String, productID: String, product: String, can: Set<Capability>) throws {
        let component = GearCatalogue.builtIn.component(
            vendorID: try #require(JacquardIdentifier(vendorID)),
            productID: try #require(JacquardIdentifier(productID)),
            componentID: 101)
        #expect(component.componentID == 101)
        #expect(component.vendor.id.description == vendorID)
        #expect(component.vendor.name == vendor)
        #expect(component.product.id.description == productID)
        #expect(component.product.name == product)
        #expect(component.capabilities == can)
        #expect(component.version == nil)
        #expect(component.uuid == nil)
    }

    @Test("keeps the numbers of unknown gear, without names and capabilities")
    func unknown() {
        // The vendor alone does not help: a product is known by both numbers.
        let component = GearCatalogue.builtIn.component(
            vendorID: .google, productID: JacquardIdentifier(rawValue: 1), componentID: 4)
        #expect(component.vendor == Component.Name(id: .google, name: ""))
        #expect(component.product == Component.Name(id: JacquardIdentifier(rawValue: 1), name: ""))
        #expect(component.capabilities == [])
    }

    @Test("replaces an earlier entry by a later one")
    func extended() {
        let own = GearCatalogue.Entry(
            vendor: Component.Name(id: .google, name: "Workshop"),
            product: Component.Name(id: JacquardIdentifier(rawValue: 0x1529_C75B), name: "Sleeve"),
            capabilities: [.gesture])
        let component = GearCatalogue(GearCatalogue.builtIn.entries + [own])
            .component(vendorID: own.vendor.id, productID: own.product.id, componentID: 1)
        #expect(component.product.name == "Sleeve")
        #expect(component.capabilities == [.gesture])
    }
}
