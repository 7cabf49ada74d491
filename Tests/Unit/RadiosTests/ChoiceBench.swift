import Bluetooth
import Testing
import Time

@testable import Radios

/// A choice with a clock, and readable steps.
struct ChoiceBench {
    var choice: RadioChoice
    var now = Instant(sinceBoot: .seconds(3_600))

    init(radios: Int = 2) {
        choice = RadioChoice(radios: radios)
        for radio in 0..<radios { choice.setUsable(true, radio) }
    }

    /// The error of each link that ends.
    static let lost = BluetoothError(.connectionFailed, text: "lost")

    static func address(_ number: Int) -> BluetoothAddress {
        let digits = String(number, radix: 16)
        let padded = String(repeating: "0", count: 4 - digits.count) + digits
        let text = "F0:00:00:00:\(padded.prefix(2)):\(padded.suffix(2))"
        guard let address = BluetoothAddress(text) else { preconditionFailure("no address: \(text)") }
        return address
    }

    let tag = Self.address(1)
    let other = Self.address(2)

    mutating func wait(_ duration: Duration) { now += duration }

    mutating func receive(_ address: BluetoothAddress, _ rssi: Int?, by radio: Int, isConnected: Bool = false) {
        choice.received(address, rssi: rssi, by: radio, isConnected: isConnected, at: now)
    }

    mutating func connect(_ address: BluetoothAddress) { choice.connect(address, at: now) }

    mutating func steps() -> [RadioChoice.Step] { choice.steps(at: now) }

    /// A radio reports a link, which is expected or not.
    mutating func up(_ address: BluetoothAddress, by radio: Int, isExpected: Bool = true) {
        let isRequested = choice.connected(address, by: radio, at: now)
        #expect(isRequested == isExpected)
    }

    mutating func down(
        _ address: BluetoothAddress, by radio: Int, _ code: BluetoothError.Code = .connectionFailed,
        isRadioLost: Bool = false
    ) -> RadioChoice.Outcome {
        choice.disconnected(
            address, by: radio, BluetoothError(code, text: "lost"), isRadioLost: isRadioLost, at: now)
    }

    /// Connects a tag with a radio, and begins again.
    mutating func haveLinked(_ address: BluetoothAddress, by radio: Int) {
        receive(address, -60, by: radio)
        connect(address)
        wait(.milliseconds(200))
        #expect(steps() == [.connect(address, radio)])
        up(address, by: radio)
    }
}
