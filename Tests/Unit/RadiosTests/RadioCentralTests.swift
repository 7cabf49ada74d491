import Bluetooth
import EventLoop
import Logging
import TestSupport
import Testing
import Time

@testable import Radios

/// A radio that records requests and reports what the test says.
@LoopActor
private final class StageUnit: @LoopActor RadioUnit {
    var onEvent: ((CentralEvent) -> Void)?
    var onRequest: ((CentralRequest) -> Void)?
    var switchedOff: BluetoothAddress?
    var onReset: (@LoopActor (BluetoothAddress?) async -> Void)?
    var adapterID: String?
    var fault: AdapterFault?
    private(set) var state = CentralState.unknown
    private(set) var requests: [CentralRequest] = []

    init(_ adapter: String) {
        adapterID = adapter
    }

    func perform(_ request: CentralRequest) { requests.append(request) }
    func start() async {}
    func deliverReceived() {}
    func stop(within limit: Duration) async {}

    func report(_ event: CentralEvent) { onEvent?(event) }

    func enter(_ state: CentralState) {
        self.state = state
        report(.stateChanged(state))
    }

    /// Returns and forgets the requests.
    func take() -> [CentralRequest] {
        defer { requests = [] }
        return requests
    }
}

/// Two radios and what they report together.
@LoopActor
private final class Stage {
    let hall = StageUnit("hci0")
    let loft = StageUnit("hci1")
    let central: RadioCentral
    private(set) var events: [CentralEvent] = []
    private(set) var changes: [RadioCentral.Change] = []
    let tag = ChoiceBench.address(1)

    init() {
        // A time that stands still, and that timers never reach: these tests don't wait, however slow the machine is.
        let time = Instant.now + .seconds(3_600)
        central = RadioCentral(
            [.init(name: "hall", unit: hall), .init(name: "loft", unit: loft)], log: Logger("test", to: MemorySink()),
            now: { time })
        central.onEvent = { [unowned self] in events.append($0) }
        central.onChange = { [unowned self] in changes.append($0) }
        for unit in [hall, loft] { unit.enter(.poweredOn) }
        take()
    }

    @discardableResult
    func take() -> [CentralEvent] {
        defer { events = [] }
        return events
    }

    func receive(_ rssi: Int, by unit: StageUnit) {
        unit.report(.discovered(tag, Advertisement(name: "Jacquard", manufacturerData: [:], rssi: rssi)))
    }

    /// Waits until the end of the turn has passed.
    func turn() async {
        await withCheckedContinuation { continuation in
            EventLoop.shared.atEndOfTurn { EventLoop.shared.atEndOfTurn { continuation.resume() } }
        }
    }

    /// Makes a link by the loft.
    func link() async {
        central.perform(.connect(tag))
        receive(-70, by: hall)
        receive(-50, by: loft)
        await turn()
        loft.report(.connected(tag))
    }
}

@Suite("Central of several radios")
struct RadioCentralTests {
    @Test("The radio that receives a tag best connects it; values and requests pass through that radio only")
    func link() async throws {
        try await onLoop {
            let stage = Stage()
            await stage.link()
            #expect(stage.loft.requests.contains(.connect(stage.tag)))
            #expect(!stage.hall.requests.contains(.connect(stage.tag)))
            #expect(stage.take().last == .connected(stage.tag))
            #expect(stage.changes.last == .linked(stage.tag, radio: "loft", adapter: "hci1"))
            _ = (stage.hall.take(), stage.loft.take())
            let uuid = try #require(BluetoothUUID("d2f2b8d0-d165-445c-b0e1-2d6b642ec57b"))
            stage.central.perform(.write([1], to: uuid, of: stage.tag, .withResponse))
            #expect(stage.loft.take() == [.write([1], to: uuid, of: stage.tag, .withResponse)])
            stage.hall.report(.notified(stage.tag, uuid, [1]))
            stage.loft.report(.notified(stage.tag, uuid, [2]))
            #expect(stage.take() == [.notified(stage.tag, uuid, [2])])
            #expect(stage.hall.take() == [])
        }
    }

    @Test("A request without a link fails in a later turn")
    func withoutLink() async throws {
        try await onLoop {
            let stage = Stage()
            let uuid = try #require(BluetoothUUID("d2f2b8d0-d165-445c-b0e1-2d6b642ec57b"))
            stage.central.perform(.write([1], to: uuid, of: stage.tag, .withResponse))
            #expect(stage.take() == [])
            await stage.turn()
            #expect(stage.take() == [.writeFailed(stage.tag, BluetoothError(.notFound, text: "not connected"))])
        }
    }

    @Test("A failed attempt is not reported while another radio tries")
    func nextRadio() async throws {
        try await onLoop {
            let stage = Stage()
            stage.central.perform(.connect(stage.tag))
            stage.receive(-70, by: stage.hall)
            stage.receive(-50, by: stage.loft)
            await stage.turn()
            stage.take()
            let error = BluetoothError(.connectionFailed, text: "refused")
            stage.loft.report(.disconnected(stage.tag, error))
            await stage.turn()
            #expect(stage.take() == [])
            #expect(stage.hall.requests.last == .connect(stage.tag))
            stage.hall.report(.disconnected(stage.tag, error))
            await stage.turn()
            #expect(stage.take() == [.disconnected(stage.tag, error)])
        }
    }

    @Test("Bluetooth is usable while one radio is; a lost radio ends its links with radio_lost")
    func lost() async throws {
        try await onLoop {
            let stage = Stage()
            await stage.link()
            stage.take()
            let error = BluetoothError(.poweredOff, text: "the adapter has gone")
            stage.loft.report(.disconnected(stage.tag, error))
            stage.loft.enter(.unsupported)
            var expected = BluetoothError(
                .connectionFailed, name: "radio_lost", text: "the radio loft was lost: the adapter has gone")
            // The tag has not gone away.
            expected.end = .local
            #expect(stage.take().first == .disconnected(stage.tag, expected))
            #expect(stage.central.state == .poweredOn)
            stage.hall.enter(.poweredOff)
            #expect(stage.take().contains(.stateChanged(.poweredOff)))
            stage.loft.enter(.poweredOn)
            #expect(stage.take().contains(.stateChanged(.poweredOn)))
        }
    }

    @Test("A link that is reported as lost just before its radio gets the radio as its cause")
    func lateLoss() async throws {
        try await onLoop {
            let stage = Stage()
            await stage.link()
            let error = BluetoothError(.connectionFailed, text: "the link was lost")
            stage.loft.report(.disconnected(stage.tag, error))
            #expect(stage.take().last == .disconnected(stage.tag, error))
            stage.loft.enter(.unsupported)
            var expected = BluetoothError(
                .connectionFailed, name: "radio_lost", text: "the radio loft was lost: the link was lost")
            expected.end = .local
            #expect(stage.changes.last == .lost(stage.tag, expected))
            stage.loft.enter(.poweredOn)
            stage.loft.enter(.unsupported)
            #expect(stage.changes.count { if case .lost = $0 { true } else { false } } == 1)
        }
    }

    @Test("A refused access removes a radio, and not the tag, while another radio has a bond")
    func refusedAccess() async throws {
        try await onLoop {
            let stage = Stage()
            for unit in [stage.hall, stage.loft] { unit.report(.bonds([stage.tag])) }
            await stage.link()
            stage.take()
            let uuid = try #require(BluetoothUUID("d2f2b8d0-d165-445c-b0e1-2d6b642ec57b"))
            let refusal = BluetoothError(.authenticationFailed, text: "insufficient authentication")
            stage.loft.report(.subscribeFailed(stage.tag, uuid, refusal))
            let curable = BluetoothError(.connectionFailed, text: "insufficient authentication")
            #expect(stage.take() == [.subscribeFailed(stage.tag, uuid, curable)])
            #expect(stage.changes.last == .bonds(radio: "loft", [stage.tag], changed: [stage.tag]))
            stage.central.perform(.disconnect(stage.tag))
            await stage.turn()
            stage.loft.report(.disconnected(stage.tag, nil))
            _ = (stage.hall.take(), stage.loft.take())
            await stage.link()
            #expect(stage.hall.take().contains(.connect(stage.tag)), "its bond is good")
            #expect(!stage.loft.take().contains(.connect(stage.tag)))
            // A new pairing replaces the bond that is refused.
            stage.central.perform(.beginPairing(stage.tag, radio: "loft"))
            #expect(stage.loft.take().first == .forget(stage.tag))
            #expect(!stage.hall.take().contains(.forget(stage.tag)))
        }
    }

    @Test("A check of a bond that the tag accepts makes its radio a candidate again, and is reported")
    func acceptedBond() async throws {
        try await onLoop {
            let stage = Stage()
            for unit in [stage.hall, stage.loft] { unit.report(.bonds([stage.tag])) }
            await stage.link()
            let refusal = BluetoothError(.authenticationFailed, text: "key missing")
            stage.loft.report(.disconnected(stage.tag, refusal))
            #expect(stage.central.receptions(of: stage.tag).map(\.isBonded) == [true, false])
            stage.central.perform(.checkBond(stage.tag, radio: "loft"))
            await stage.link()
            let count = stage.changes.count
            let uuid = try #require(BluetoothUUID("d2f2b8d0-d165-445c-b0e1-2d6b642ec57b"))
            for _ in 0..<2 { stage.loft.report(.subscribed(stage.tag, uuid)) }
            stage.central.perform(.endPairing(stage.tag))
            #expect(stage.central.receptions(of: stage.tag).map(\.isBonded) == [true, true])
            #expect(stage.changes[count...] == [.bonds(radio: "loft", [stage.tag], changed: [stage.tag])])
        }
    }

    @Test("A tag that was paired needs a bond, also while the radio with its bond is away")
    func awayBond() async throws {
        try await onLoop {
            let stage = Stage()
            await stage.link()
            stage.loft.report(.paired(stage.tag))
            stage.loft.report(.bonds([stage.tag]))
            stage.loft.report(.bonds([]))
            stage.loft.enter(.unsupported)
            stage.loft.report(.disconnected(stage.tag, BluetoothError(.poweredOff, text: "unplugged")))
            _ = stage.hall.take()
            stage.central.perform(.connect(stage.tag))
            stage.receive(-50, by: stage.hall)
            await stage.turn()
            #expect(!stage.hall.take().contains(.connect(stage.tag)))
        }
    }

    @Test("The bonds of all radios are reported together, and a device is forgotten at each radio, with one result")
    func forget() async throws {
        try await onLoop {
            let stage = Stage()
            stage.hall.report(.bonds([stage.tag]))
            stage.loft.report(.bonds([stage.tag]))
            #expect(stage.take() == [.bonds([stage.tag])])
            stage.central.perform(.forget(stage.tag))
            for unit in [stage.hall, stage.loft] { #expect(unit.requests.last == .forget(stage.tag)) }
            stage.hall.report(.bonds([]))
            stage.hall.report(.forgotten(stage.tag, nil))
            #expect(stage.take() == [])
            stage.loft.report(.bonds([]))
            stage.loft.report(.forgotten(stage.tag, nil))
            #expect(stage.take() == [.bonds([]), .forgotten(stage.tag, nil)])
        }
    }

    @Test("A device is forgotten at no radio while one of those with a bond is off")
    func forgetWithoutRadio() async throws {
        try await onLoop {
            let stage = Stage()
            stage.hall.report(.bonds([stage.tag]))
            stage.loft.report(.bonds([stage.tag]))
            stage.loft.enter(.poweredOff)
            (_, _) = (stage.take(), stage.hall.take())
            stage.central.perform(.forget(stage.tag))
            await stage.turn()
            let text = "Radio loft cannot be used, and has a bond with the tag"
            #expect(stage.take() == [.forgotten(stage.tag, BluetoothError(.poweredOff, text: text))])
            #expect(stage.hall.take() == [])
        }
    }

    @Test("A pairing with another radio drops the link, which is then made by that radio")
    func pairing() async throws {
        try await onLoop {
            let stage = Stage()
            await stage.link()
            stage.take()
            stage.central.perform(.beginPairing(stage.tag, radio: "hall"))
            stage.central.perform(.pair(stage.tag))
            await stage.turn()
            #expect(stage.loft.requests.last == .disconnect(stage.tag))
            stage.loft.report(.disconnected(stage.tag, nil))
            let error = BluetoothError(.connectionFailed, name: "other_radio", text: "another radio is to be paired")
            #expect(stage.take() == [.disconnected(stage.tag, error)])
            stage.central.perform(.connect(stage.tag))
            stage.receive(-40, by: stage.loft)
            stage.receive(-80, by: stage.hall)
            await stage.turn()
            #expect(stage.hall.requests.last == .connect(stage.tag))
            stage.hall.report(.connected(stage.tag))
            stage.central.perform(.pair(stage.tag))
            #expect(stage.hall.requests.last == .pair(stage.tag))
        }
    }

    @Test("A radio that may not search has a fault, although its adapter is on")
    func refusedDiscovery() async throws {
        try await onLoop {
            let stage = Stage()
            let adapter = Adapter(id: "hci1", address: nil, state: .poweredOn, isDiscovering: false, connectedCount: 0)
            stage.loft.adapterID = "hci1"
            stage.loft.report(.adaptersChanged([adapter]))
            stage.loft.fault = .discoveryRefused("no")
            stage.loft.report(.faultChanged(.discoveryRefused("no")))
            guard case .adaptersChanged(let list)? = stage.take().last else {
                Issue.record("no list")
                return
            }
            #expect(list.last?.fault == .discoveryRefused("no") && list.last?.state == .poweredOn)
        }
    }

    @Test("Each radio has one adapter in the list, even without any")
    func adapters() async throws {
        try await onLoop {
            let stage = Stage()
            let adapters = ["hci0", "hci1"].map {
                Adapter(id: $0, address: nil, state: .poweredOn, isDiscovering: false, connectedCount: 0)
            }
            stage.hall.report(.adaptersChanged(adapters))
            stage.loft.adapterID = nil
            stage.loft.fault = .noAdapter
            stage.loft.report(.adaptersChanged([]))
            guard case .adaptersChanged(let list)? = stage.take().last else {
                Issue.record("no list")
                return
            }
            #expect(list.map(\.radio) == ["hall", "loft"])
            #expect(list.map(\.id) == ["hci0", "loft"])
            #expect(list.map(\.fault?.text) == [nil, "bluetoothd knows no adapter"])
        }
    }

    @Test("A radio without a free link is not chosen, and bonds are reported with their radio")
    func limits() async throws {
        try await onLoop {
            let stage = Stage()
            var adapter = Adapter(id: "hci1", address: nil, state: .poweredOn, isDiscovering: false, connectedCount: 0)
            adapter.linkLimit = 0
            stage.loft.report(.adaptersChanged([adapter]))
            await stage.link()
            #expect(stage.hall.requests.contains(.connect(stage.tag)))
            #expect(!stage.loft.requests.contains(.connect(stage.tag)))
            stage.loft.report(.bonds([stage.tag]))
            #expect(stage.changes.last == .bonds(radio: "loft", [stage.tag], changed: [stage.tag]))
        }
    }
}
