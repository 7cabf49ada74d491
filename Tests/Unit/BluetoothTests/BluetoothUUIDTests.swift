import Bluetooth
import Testing

@Suite("Bluetooth UUID")
struct BluetoothUUIDTests {
    @Test(
        "is read in either case and written in lower case",
        arguments: [
            "D2F2BF0D-D165-445C-B0E1-2D6B642EC57B", "d2f2bf0d-d165-445c-b0e1-2d6b642ec57b",
        ])
    func parsing(text: String) {
        #expect(BluetoothUUID(text)?.description == "d2f2bf0d-d165-445c-b0e1-2d6b642ec57b")
    }

    @Test(
        "keeps leading zeros",
        arguments: ["00000000-0000-0000-0000-000000000000", "0000180f-0000-1000-8000-00805f9b34fb"])
    func zeros(text: String) {
        #expect(BluetoothUUID(text)?.description == text)
    }

    @Test(
        "has no other form",
        arguments: [
            "", "180f", "d2f2bf0dd165445cb0e12d6b642ec57b", "d2f2bf0d-d165-445c-b0e1-2d6b642ec57",
            "d2f2bf0d-d165-445c-b0e1-2d6b642ec57b0", "d2f2bf0-dd165-445c-b0e1-2d6b642ec57b",
            "d2f2bf0g-d165-445c-b0e1-2d6b642ec57b", "+2f2bf0d-d165-445c-b0e1-2d6b642ec57b",
            "８８bf-d165-445c-b0e1-2d6b642ec57b",
        ])
    func refusal(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }
}
