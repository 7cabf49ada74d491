import DBus
import Testing

@testable import FakeBlueZ

@Suite("Fake BlueZ: discovery filter")
struct DiscoveryFilterTests {
    private static let broadcast = BroadcastData(
        name: "Jacquard-0001", services: ["0000180f-0000-1000-8000-00805f9b34fb"], manufacturerData: [:], rssi: -60)

    static let filters: [(String, DBusValue, Bool)] = [
        ("UUIDs", .strings(["180F"]), true), ("UUIDs", .strings(["0000180f"]), true),
        ("UUIDs", .strings(["180a"]), false), ("UUIDs", .strings([]), true), ("RSSI", .int16(-60), true),
        ("RSSI", .int16(-59), false), ("Transport", .string("le"), true), ("Transport", .string("auto"), true),
        ("Transport", .string("bredr"), false), ("Pattern", .string("Jacq"), true), ("Pattern", .string("F0:"), true),
        ("Pattern", .string("0001"), false), ("Discoverable", .boolean(true), true), ("Pathloss", .uint16(137), true),
        ("DuplicateData", .boolean(true), true),
    ]

    @Test("matches each of its keys", arguments: filters)
    func matches(key: String, value: DBusValue, isMatch: Bool) throws {
        let filter = try #require(try DiscoveryFilter.parse(.properties([(key, value)])))
        #expect(filter.matches(Self.broadcast, address: "F0:00:00:00:00:01") == isMatch)
        #expect(filter.reportsDuplicates == (key == "DuplicateData"))
    }

    static let mistakes: [(String, DBusValue)] = [
        ("UUIDs", .strings(["tag"])), ("UUIDs", .string("180f")), ("RSSI", .int16(21)), ("RSSI", .uint16(1)),
        ("Transport", .string("usb")), ("Pathloss", .uint16(138)), ("Pattern", .boolean(true)), ("Fly", .boolean(true)),
    ]

    @Test("rejects what bluetoothd rejects", arguments: mistakes)
    func refuses(key: String, value: DBusValue) {
        #expect(throws: BlueZError.invalidArguments) { try DiscoveryFilter.parse(.properties([(key, value)])) }
    }

    @Test("is none when it is empty")
    func empty() throws {
        #expect(try DiscoveryFilter.parse(.properties([])) == nil)
    }
}
