import Bluetooth
import Testing

@Suite("Values of the Bluetooth seam")
struct BluetoothValuesTests {
    @Test(
        "an advertisement has no strength when the radio says 127",
        arguments: [(127, nil), (-50, -50), (0, 0), (nil, nil)])
    func strength(reported: Int?, kept: Int?) {
        #expect(Advertisement(name: nil, manufacturerData: [:], rssi: reported).rssi == kept)
    }

    @Test("a central's states have the numbers of the JUMA manager")
    func states() {
        #expect(
            CentralState.allCases == [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn])
        #expect(CentralState.allCases.map(\.rawValue) == Array(0...5))
        #expect(
            CentralState.allCases.map(\.word)
                == ["unknown", "resetting", "unsupported", "unauthorized", "poweredOff", "poweredOn"])
    }

    @Test("characteristic properties are independent of each other")
    func properties() {
        let all: [CharacteristicProperties] = [.write, .writeWithoutResponse, .notify]
        for one in all {
            #expect(all.filter { !$0.isDisjoint(with: one) } == [one])
        }
    }
}
