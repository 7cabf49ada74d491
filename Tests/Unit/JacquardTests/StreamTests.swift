import Bluetooth
import EventLoop
import JacquardProtocol
import TagStage
import Tags
import TestSupport
import Testing

@testable import Jacquard

@Suite("The manager's streams")
struct StreamTests {
    @Test("report the state of Bluetooth, starting with the current one")
    func centralState() async throws {
        try await onLoop {
            let stage = Stage(state: .unknown)
            let states = Reader(stage.jacquard.centralState)
            stage.central.report(.stateChanged(.poweredOff))
            stage.central.report(.stateChanged(.poweredOn))
            #expect(await states.next(3) == [.unknown, .poweredOff, .poweredOn])
            #expect(await Reader(stage.jacquard.centralState).next() == .poweredOn)
        }
    }

    @Test("report whether a scan runs, also when it ends by itself")
    func isScanning() async throws {
        try await onLoop {
            let stage = Stage()
            let states = Reader(stage.jacquard.isScanning)
            try stage.jacquard.startScanning()
            stage.central.report(.scanning(true))
            stage.central.report(.scanning(false))
            stage.central.report(.scanning(true))
            stage.jacquard.stopScanning()
            #expect(await states.next(5) == [false, true, false, true, false])
        }
    }

    @Test("report the tags that a scan receives, and none without a scan")
    func advertisingTags() async throws {
        try await onLoop {
            let stage = Stage()
            let tags = Reader(stage.jacquard.advertisingTags)
            stage.manager.connect(.desk)
            stage.hear(1)
            try stage.jacquard.startScanning()
            stage.hear(2, .attic, rssi: 127, name: "Attic")
            stage.hear(2, .attic)
            stage.hear(3)
            let received = await tags.next(2)
            #expect(received.map(\.identifier) == [.number(2), .number(3)])
            #expect(received.first?.displayName == "Attic")
            #expect(received.first?.pairingSerialNumber == .attic)
            #expect(received.map(\.rssi) == [nil, -60])
        }
    }

    @Test("list the bonded tags of earlier runs, and the requested tags that were found")
    func preConnectedTags() async throws {
        try await onLoop {
            let stage = Stage()
            stage.hear(1, isPaired: true)
            stage.hear(2, .attic)
            stage.central.report(
                .discovered(
                    .number(3), Advertisement(name: "Keyboard", manufacturerData: [:], rssi: nil, isPaired: true)))
            #expect(stage.jacquard.preConnectedTags == [PreConnectedTag(identifier: .number(1), displayName: "Desk")])
            stage.manager.connect(TagIdentity(serial: .attic))
            stage.hear(2, .attic)
            #expect(stage.jacquard.preConnectedTags.map(\.identifier) == [.number(1), .number(2)])
        }
    }

    @Test("report that no scan runs before Bluetooth has reported its state")
    func noScan() async throws {
        try await onLoop {
            let stage = Stage(state: .unknown)
            #expect(await Reader(stage.jacquard.isScanning).next() == false)
        }
    }
}
