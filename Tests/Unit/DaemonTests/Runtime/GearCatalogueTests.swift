import JacquardProtocol
import Testing

@testable import Configuration
@testable import Daemon

@Suite("Configured gear")
struct GearCatalogueTests {
    @Test("extends the catalogue, whose values are used for missing keys")
    func catalogue() throws {
        let catalogue = try settings(
            """
            gear:
              - {vendor_id: 74-a8-ce-54, product_id: 8a-66-50-f4, product: My jacket}
              - {vendor_id: 74-a8-ce-54, product_id: 00-00-00-02, product: Vest, capabilities: [haptic]}
              - {vendor_id: 00-00-00-01, product_id: 00-00-00-0a, vendor: Somebody}
              - {vendor_id: 00-00-00-01, product_id: 00-00-00-0b, capabilities: [led]}
              - {vendor_id: 00-00-00-01, product_id: 00-00-00-0c, capabilities: [gesture]}
              - {vendor_id: 00-00-00-01, product_id: 00-00-00-0d, capabilities: [touch_data_stream]}
            """
        ).catalogue
        func component(_ vendor: UInt32, _ product: UInt32) -> [String] {
            let gear = catalogue.component(
                vendorID: JacquardIdentifier(rawValue: vendor), productID: JacquardIdentifier(rawValue: product),
                componentID: 1)
            let capabilities = gear.capabilities.map(\.rawValue).sorted().map(String.init)
            return [gear.vendor.name, gear.product.name] + capabilities
        }
        #expect(component(0x74A8_CE54, 0x8A66_50F4) == ["Levi's", "My jacket", "1", "2", "3"])
        #expect(component(0x74A8_CE54, 2) == ["Levi's", "Vest", "3"])
        #expect(component(1, 10) == ["Somebody", ""])
        #expect((11...13).map { component(1, $0).last } == ["0", "1", "2"])
        #expect(component(0x1178_30C8, 0x092F_41AB) == ["Google", "Patch B0", "0", "1", "2", "3"])
    }
}
