import Testing

@testable import FakeBlueZ

@Suite("Fake BlueZ: reported properties of a device")
struct HeardDataTests {
    private static func broadcast(_ rssi: Int16, name: String = "Jacquard-0001") -> BroadcastData {
        BroadcastData(name: name, services: ["d2f2"], manufacturerData: [224: [0, 0, 4, 0x3F]], rssi: rssi)
    }

    @Test("are reported completely at first")
    func first() {
        var data = AdvertisedData()
        let changed = data.take(Self.broadcast(-50), isFiltered: false, reportsDuplicates: false)
        #expect(changed == ["RSSI", "Name", "Alias", "UUIDs", "ManufacturerData"])
    }

    @Test(
        "are reported again as the filter requires",
        arguments: [
            (-57, false, false, []), (-58, false, false, ["RSSI"]), (-42, false, false, ["RSSI"]),
            (-50, true, false, ["RSSI"]), (-50, true, true, ["RSSI", "ManufacturerData"]),
        ] as [(Int16, Bool, Bool, [String])])
    func again(rssi: Int16, isFiltered: Bool, reportsDuplicates: Bool, changed: [String]) {
        var data = AdvertisedData()
        _ = data.take(Self.broadcast(-50), isFiltered: isFiltered, reportsDuplicates: reportsDuplicates)
        let told = data.take(Self.broadcast(rssi), isFiltered: isFiltered, reportsDuplicates: reportsDuplicates)
        #expect(told == changed)
    }

    @Test("have a new name, and lose the signal strength once")
    func changes() {
        var data = AdvertisedData()
        _ = data.take(Self.broadcast(-50), isFiltered: false, reportsDuplicates: false)
        let renamed = data.take(Self.broadcast(-50, name: "Desk"), isFiltered: false, reportsDuplicates: false)
        #expect(renamed == ["Name", "Alias"])
        let forgotten = [data.forgetStrength(), data.forgetStrength()]
        #expect(forgotten == [true, false])
    }
}
