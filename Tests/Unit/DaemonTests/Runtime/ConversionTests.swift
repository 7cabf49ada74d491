import Bluetooth
import FoundationEssentials
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

    @Test("say that a radio cannot be used if another one can")
    func radioErrors() {
        let error = RequestError(TagConnectionError(.bluetoothPowerOff, "hci1 is off"), .poweredOn)
        #expect(error == .radioUnavailable(text: "hci1 is off"))
    }

    @Test("have the free links of an adapter, and whether another program uses it", arguments: [(6, 2), (9, 0)])
    func adapters(connected: Int, free: Int) {
        var adapter = Adapter(
            id: "hci0", address: nil, state: .poweredOn, isDiscovering: false, connectedCount: connected)
        #expect(AdapterFacts(adapter).freeLinks == nil && !AdapterFacts(adapter).isTaken)
        adapter.linkLimit = 8
        adapter.fault = .taken("it is in use")
        let facts = AdapterFacts(adapter)
        #expect(facts.freeLinks == free && facts.isTaken && facts.error == "it is in use")
    }

    @Test("have four descriptors for each tag, and 25 for the bridge", arguments: [(28, false), (29, true)])
    func descriptors(limit: UInt, isEnough: Bool) {
        #expect((DescriptorLimit.complaint(about: limit, tags: 1) == nil) == isEnough)
    }

    @Test("have the resident memory of the process")
    func memory() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        let kilobytes = try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        // Other tests run at the same time.
        #expect((kilobytes * 2 / 3...kilobytes * 3 / 2).contains(ProcessMeasurement.residentKilobytes))
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
