import Bluetooth
import Testing

@Suite("Bluetooth address")
struct BluetoothAddressTests {
    @Test(
        "is six groups of two hex digits, either case",
        arguments: [
            ("F0:00:00:00:00:01", "F0:00:00:00:00:01"), ("f0:0a:00:00:00:ff", "F0:0A:00:00:00:FF"),
            ("00:00:00:00:00:00", "00:00:00:00:00:00"), ("FF:FF:FF:FF:FF:FF", "FF:FF:FF:FF:FF:FF"),
        ])
    func parsing(text: String, description: String) {
        #expect(BluetoothAddress(text)?.description == description)
    }

    @Test(
        "has no other form",
        arguments: [
            "", ":::::", "F0:00:00:00:00", "F0:00:00:00:00:01:02", "F0-00-00-00-00-01", "F00:0:00:00:00:01",
            "F0:00:00:00:00:0G", "+F:00:00:00:00:01", " F:00:00:00:00:01", "F0:00:00:00:00:é", "F0:00:00:00:00:1",
        ])
    func refusal(text: String) {
        #expect(BluetoothAddress(text) == nil)
    }

    @Test("is compared by its bits, whatever the case of letters")
    func equality() {
        #expect(BluetoothAddress("f0:00:00:00:00:ab") == BluetoothAddress("F0:00:00:00:00:AB"))
        #expect(BluetoothAddress("F0:00:00:00:00:01") != BluetoothAddress("F0:00:00:00:00:02"))
    }
}
