import Testing

@testable import Configuration

@Suite("Gear of the configuration")
struct GearConfigurationTests {
    private static let numbers = "vendor_id: 00-00-00-01, product_id: 00-00-00-0A"

    @Test("has numbers, and optional names and capabilities")
    func values() throws {
        let gear = try readConfiguration(
            """
            gear:
              - {vendor_id: 00-00-00-01, product_id: 00-00-00-0A, vendor: Somebody, product: Bag, capabilities: [led, haptic]}
              - vendor_id: 74-A8-CE-54
                product_id: 8a-66-50-f4
              - {vendor_id: 00-00-00-01, product_id: 00-00-00-02, capabilities: "gesture, touch_data_stream"}
              - {vendor_id: 00-00-00-01, product_id: 00-00-00-03, capabilities: []}
            """
        ).get().gear
        #expect(
            gear == [
                GearSettings(
                    vendorID: "00-00-00-01", productID: "00-00-00-0a", vendor: "Somebody", product: "Bag",
                    capabilities: [.led, .haptic]),
                GearSettings(vendorID: "74-a8-ce-54", productID: "8a-66-50-f4"),
                GearSettings(
                    vendorID: "00-00-00-01", productID: "00-00-00-02", capabilities: [.gesture, .touchDataStream]),
                GearSettings(vendorID: "00-00-00-01", productID: "00-00-00-03", capabilities: []),
            ])
    }

    @Test("is set from the environment, too, with commas between the capabilities")
    func environment() throws {
        let prefix = "JACQUARD2MQTT_GEAR__0__"
        let gear = try readConfiguration(
            "",
            environment: [
                prefix + "VENDOR_ID": "00-00-00-01", prefix + "PRODUCT_ID": "00-00-00-02", prefix + "PRODUCT": "Bag",
                prefix + "CAPABILITIES": "led,gesture",
            ]
        ).get().gear
        #expect(
            gear == [
                GearSettings(
                    vendorID: "00-00-00-01", productID: "00-00-00-02", product: "Bag", capabilities: [.led, .gesture])
            ])
    }

    @Test(
        "is reported with line, key and what is allowed when it is wrong",
        arguments: [
            (
                "- {vendor_id: 00-00-00-01}",
                "2:3: gear.0.product_id: missing; allowed: four pairs of hexadecimal digits such as 74-a8-ce-54"
            ),
            (
                "- {vendor_id: 1, product_id: 00-00-00-02}",
                "2:15: gear.0.vendor_id: \"1\" is not a number of gear"
                    + "; allowed: four pairs of hexadecimal digits such as 74-a8-ce-54"
            ),
            (
                "- {\(numbers), capabilities: [led, hapitc]}",
                "2:73: gear.0.capabilities.1: \"hapitc\" is not one of these (did you mean haptic?)"
                    + "; allowed: led, gesture, touch_data_stream, haptic"
            ),
            (
                "- {\(numbers), capabilities: {led: true}}",
                "2:67: gear.0.capabilities: keys where a list belongs"
                    + "; allowed: a list of led, gesture, touch_data_stream, haptic"
            ),
            (
                "- {\(numbers), capabilities: }",
                "2:67: gear.0.capabilities: no value; allowed: a list of led, gesture, touch_data_stream, haptic"
            ),
            (
                "- {\(numbers), capabilities: [[led]]}",
                "2:68: gear.0.capabilities.0: a list or keys where one value belongs"
                    + "; allowed: led, gesture, touch_data_stream, haptic"
            ),
            (
                "- {\(numbers), vendor: \"\"}",
                "2:61: gear.0.vendor: \"\" is empty; allowed: 1 to 64 bytes without control characters"
            ),
            (
                "- {\(numbers), name: Bag}",
                "2:53: gear.0.name: unknown key; allowed: vendor_id, product_id, vendor, product, capabilities"
            ),
            (
                "- {\(numbers)}\n- {\(numbers)}",
                "3:40: gear.1.product_id: the product 00-00-00-01 00-00-00-0a is in gear.0, too; allowed: each product once"
            ),
        ])
    func errors(yaml: String, line: String) {
        #expect(errorLines("gear:\n" + yaml) == ["/etc/x.yaml:\(line)"])
    }

    @Test("has at most 64 items")
    func bound() {
        func yaml(_ count: Int) -> String {
            "gear:\n" + (0..<count).map { "- {vendor_id: 00-00-00-01, product_id: 00-00-00-\(10 + $0)}\n" }.joined()
        }
        #expect(errorLines(yaml(64)) == [])
        #expect(errorLines(yaml(65)) == ["/etc/x.yaml:66:3: gear.64: one item too many; allowed: at most 64 items"])
    }
}
