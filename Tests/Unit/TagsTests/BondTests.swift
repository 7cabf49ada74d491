import Bluetooth
import EventLoop
import JacquardProtocol
import TagStage
import TestSupport
import Testing

@testable import Tags

@Suite("A lost bond")
struct BondTests {
    /// The step at which a tag that has forgotten this host refuses it.
    enum Place: CaseIterable {
        case linking, discovering, subscribing, writing
    }

    @Test("is final at whichever step the tag refuses, with a hint in the error", arguments: Place.allCases)
    func final(place: Place) async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1, isPaired: true)
            var errors: [TagConnectionError] = []
            stage.onEvent = { event in
                if case .tag(_, .connection(let connection)) = event { errors += [connection.error].compactMap(\.self) }
            }
            Self.refuse(at: place, address, stage)
            stage.unlink(address)
            #expect(stage.said().contains("003R disconnected: peerRemovedPairingInfo"))
            #expect(errors.last?.text.contains("pair it again") == true)
            #expect(errors.last?.stackName == "org.bluez.Error.AuthenticationFailed")
        }
    }

    @Test("is not assumed without a bond: the connection is retried", arguments: Place.allCases)
    func noBond(place: Place) async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            Self.refuse(at: place, address, stage)
            stage.unlink(address)
            let said = stage.said()
            #expect(said.contains { $0.hasPrefix("003R preparing: bluetooth") })
            #expect(!said.contains { $0.hasPrefix("003R disconnected") })
        }
    }

    @Test("is not assumed during a pairing: the pairing is retried")
    func duringPairing() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.pair(.desk, within: .seconds(60))
            let address = stage.hear(1, isPaired: true)
            Self.refuse(at: .linking, address, stage)
            #expect(stage.said().contains("003R preparing: bluetoothConnectionError"))
            stage.manager.forget(.desk)
        }
    }

    @Test("is no longer waited for after a stopped pairing, which ends once", arguments: [false, true])
    func stoppedPairing(wasConnecting: Bool) async throws {
        try await onLoop {
            let stage = Stage()
            if wasConnecting { stage.manager.connect(.desk) }
            stage.manager.pair(.desk, within: .seconds(60))
            let address = stage.hear(1, isPaired: false)
            _ = stage.said()
            stage.manager.stopPairing(.desk)
            stage.manager.stopPairing(.desk)
            let said = stage.said()
            #expect(said.count { $0 == "paired 003R: bluetoothConnectionError" } == 1)
            #expect(said.contains("> disconnect 01") != wasConnecting)
            stage.central.report(.paired(address))
            #expect(!stage.said().contains { $0.hasPrefix("paired") })
            stage.manager.forget(.desk)
        }
    }

    @Test("is possible from the moment a bond is made")
    func freshBond() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.central.report(.paired(address))
            Self.refuse(at: .linking, address, stage)
            #expect(stage.said() == ["003R disconnected: peerRemovedPairingInfo"])
        }
    }

    @Test("is over when another program on this host has made a new bond")
    func newBond() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1, isPaired: true)
            Self.refuse(at: .linking, address, stage)
            #expect(stage.said().contains("003R disconnected: peerRemovedPairingInfo"))
            stage.central.report(.bonds([address]))
            stage.central.report(.bonds([]))
            #expect(stage.said().isEmpty)
            stage.central.report(.bonds([address]))
            #expect(stage.said() == ["003R preparing", "> connect \(address.short)", "> scan on"])
        }
    }

    @Test("is over when the tag is heard without its old bond, and with a new one then")
    func heardBond() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1, isPaired: true)
            Self.refuse(at: .linking, address, stage)
            _ = stage.said()
            stage.hear(1, isPaired: false)
            #expect(!stage.said().contains("003R preparing"))
            stage.hear(1, isPaired: true)
            #expect(stage.said().contains("003R preparing"))
        }
    }

    @Test("is removed here before a pairing, also after the user has disconnected the tag", arguments: [false, true])
    func removedBeforePairing(isDisconnected: Bool) async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1, isPaired: true)
            Self.refuse(at: .linking, address, stage)
            if isDisconnected { stage.manager.disconnect(.desk) }
            _ = stage.said()
            stage.manager.pair(.desk, within: .seconds(60))
            #expect(stage.said() == ["pairing 003R searching", "> forget 01"])
            stage.central.report(.forgotten(address, nil))
            #expect(stage.said() == ["003R preparing", "> connect 01", "> scan on"])
            stage.central.report(.connected(address))
            #expect(stage.said().contains("> pair 01"))
            stage.central.report(.forgotten(address, nil))
            #expect(stage.said() == [], "the pairing has begun")
            stage.central.report(.paired(address))
            stage.central.report(.forgotten(address, nil))
            #expect(!stage.said().contains("> pair 01"), "the pairing has begun")
            stage.manager.forget(.desk)
        }
    }

    @Test("that another one has removed does not begin a pairing again", arguments: [false, true])
    func removedByOthers(isConnected: Bool) async throws {
        try await onLoop {
            let stage = Stage()
            if isConnected { _ = stage.connect(.desk) }
            stage.manager.pair(.desk, within: .seconds(60))
            let address = isConnected ? .number(1) : stage.hear(1)
            if !isConnected { stage.central.report(.connected(address)) }
            #expect(stage.said().contains("> pair 01"))
            stage.central.report(.forgotten(address, nil))
            #expect(stage.said() == [])
            stage.manager.forget(.desk)
        }
    }

    @Test("and a new one are among the addresses with a bond as soon as they are reported")
    func addresses() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            #expect(!stage.manager.bondedAddresses.contains(address))
            stage.central.report(.paired(address))
            #expect(stage.manager.bondedAddresses == [address])
            stage.hear(1, isPaired: false)
            #expect(stage.manager.bondedAddresses.isEmpty)
        }
    }

    @Test("is not removed by the check of a bond, nor from a tag that was connected since")
    func keptBond() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1, isPaired: true)
            Self.refuse(at: .linking, address, stage)
            stage.manager.pair(.desk, within: .seconds(60), isCheck: true)
            #expect(!stage.said().contains("> forget 01"))
            stage.link(address)
            stage.start(address)
            stage.manager.pair(.desk, within: .seconds(60))
            #expect(!stage.said().contains("> forget 01"))
            stage.manager.forget(.desk)
        }
    }

    @Test("is removed once when the tag is forgotten during that")
    func forgottenMeanwhile() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1, isPaired: true)
            Self.refuse(at: .linking, address, stage)
            stage.manager.pair(.desk, within: .seconds(60))
            _ = stage.said()
            stage.manager.forget(.desk)
            stage.central.report(.forgotten(address, nil))
            let lines = try await stage.said(upTo: "forgotten 003R")
            #expect(lines.first == "paired 003R: bluetoothConnectionError" && !lines.contains("> connect 01"))
        }
    }

    @Test("stays final for a tag that the user has disconnected meanwhile")
    func newBondOfDisconnectedTag() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1, isPaired: true)
            Self.refuse(at: .linking, address, stage)
            stage.manager.disconnect(.desk)
            _ = stage.said()
            stage.central.report(.bonds([]))
            stage.central.report(.bonds([address]))
            #expect(stage.said().isEmpty)
        }
    }

    @LoopActor
    private static func refuse(at place: Place, _ address: BluetoothAddress, _ stage: Stage) {
        let error = BluetoothError(
            .authenticationFailed, name: "org.bluez.Error.AuthenticationFailed", text: "Authentication failed")
        guard place != .linking else { return stage.central.report(.disconnected(address, error)) }
        stage.central.report(.connected(address))
        guard place != .discovering else { return stage.central.report(.discoveryFailed(address, error)) }
        stage.central.report(
            .characteristicsDiscovered(address, [JacquardGATT.uuid(.command): [.write]]))
        let notify = JacquardGATT.uuid(.notify)
        guard place != .subscribing else { return stage.central.report(.subscribeFailed(address, notify, error)) }
        for characteristic in TagCharacteristic.notifying {
            stage.central.report(.subscribed(address, JacquardGATT.uuid(characteristic)))
        }
        stage.central.report(.writeFailed(address, error))
    }
}
