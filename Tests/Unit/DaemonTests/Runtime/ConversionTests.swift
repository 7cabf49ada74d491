import Bluetooth
import JacquardProtocol
import Testing

@testable import Bridge
@testable import Configuration
@testable import Daemon

@Suite("Values that the daemon passes on")
struct ConversionTests {
    @Test("are the same states of an adapter on both sides")
    func adapterStates() {
        let states: [(CentralState, AdapterFacts.State)] = [
            (.unknown, .unknown), (.resetting, .resetting), (.unsupported, .unsupported),
            (.unauthorized, .unauthorized), (.poweredOff, .poweredOff), (.poweredOn, .poweredOn),
        ]
        for (stack, bridge) in states { #expect(AdapterFacts.State(stack) == bridge) }
        #expect(Set(states.map(\.1)) == Set(AdapterFacts.State.allCases))
    }

    @Test(
        "say why a pairing or a removal has failed, with the name of the stack's error if there is one",
        arguments: [
            (TagConnectionError(.bluetoothPowerOff, "off"), .bluetoothUnavailable(.poweredOff)),
            (TagConnectionError(.bluetoothDeviceNotFound, "away"), .notFound),
            (TagConnectionError(.connectionTimeout, "late"), .timeout(text: "late")),
            (TagConnectionError(.inUse, "busy"), .refused(name: "inUse", text: "busy")),
            (
                TagConnectionError(.unconnectableTag, "no", stackName: "org.bluez.Error.Failed"),
                .refused(name: "org.bluez.Error.Failed", text: "no")
            ),
        ] as [(TagConnectionError, RequestError)])
    func requestErrors(error: TagConnectionError, expected: RequestError) {
        #expect(RequestError(error, .poweredOff) == expected)
    }

    @Test(
        "take a link of two seconds for a good one if several radios take turns, otherwise one of ten",
        arguments: [
            ("", 10), ("bluetooth: {radios: [hci0]}", 10), ("bluetooth: {radios: [hci0, hci1]}", 2),
        ])
    func goodLinks(yaml: String, seconds: Int) throws {
        #expect(try settings(yaml).timing.stable == .seconds(seconds))
    }

    @Test("have at most 256 bytes of a topic in the log, and three dots", arguments: [0, 255, 256, 257, 65_535])
    func topics(count: Int) {
        let topic = String(repeating: "a", count: count)
        #expect(topic.shortened == (count <= 256 ? topic : String(repeating: "a", count: 256) + "..."))
    }
}
