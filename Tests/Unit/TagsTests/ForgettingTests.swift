import Bluetooth
import JacquardProtocol
import TagStage
import TestSupport
import Testing

@testable import Tags

@Suite("Forgetting a tag")
struct ForgettingTests {
    @Test("ends its connection and removes its bond and driver")
    func connected() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.forget(.desk)
            #expect(stage.said() == ["> disconnect 01", "> forget 01"])
            stage.unlink(address)
            stage.central.report(.forgotten(address, nil))
            #expect(stage.said() == ["003R disconnected", "> accept", "forgotten 003R"])
            #expect(stage.manager.tags.isEmpty && stage.manager.drivers.isEmpty)
        }
    }

    @Test("is reported for a tag that was never found, after the end of its connection")
    func neverHeard() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            stage.manager.forget(.desk)
            let said = try await stage.said(upTo: "forgotten 003R")
            #expect(said.suffix(2) == ["003R disconnected", "forgotten 003R"])
            #expect(stage.manager.tags.isEmpty)
        }
    }

    @Test("reaches the stack for a tag without a driver, and affects no other tag")
    func notWanted() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            let other = TagIdentity(address: .number(2))
            stage.manager.forget(other)
            #expect(stage.said() == ["> forget 02"])
            stage.central.report(.forgotten(.number(2), nil))
            #expect(stage.said() == ["forgotten @02"])
            stage.gesture(address)
            #expect(stage.said() == ["003R gesture 1"])
        }
    }

    @Test("is reported once to two requests")
    func twice() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.forget(TagIdentity(address: .number(1)))
            stage.manager.forget(TagIdentity(address: .number(1)))
            stage.central.report(.forgotten(.number(1), nil))
            #expect(stage.said() == ["> forget 01", "forgotten @01"])
        }
    }

    @Test("ends a pairing first")
    func duringPairing() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.pair(.desk, within: .seconds(60))
            let address = stage.hear(1)
            stage.central.report(.connected(address))
            _ = stage.said()
            stage.manager.forget(.desk)
            #expect(
                stage.said() == ["> disconnect 01", "paired 003R: bluetoothConnectionError", "> forget 01"])
            stage.unlink(address)
            stage.central.report(.forgotten(address, nil))
            #expect(stage.said() == ["003R disconnected", "> accept", "forgotten 003R"])
            #expect(stage.manager.pairings.isEmpty)
        }
    }

    @Test("keeps the driver of a tag that is connected again meanwhile")
    func wantedAgain() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.forget(.desk)
            stage.manager.connect(.desk)
            stage.unlink(address)
            stage.central.report(.forgotten(address, nil))
            #expect(
                stage.said() == [
                    "> disconnect 01", "> forget 01", "003R preparing", "> connect 01", "> scan on", "forgotten 003R",
                ])
            #expect(stage.manager.tags.count == 1)
        }
    }

    @Test(
        "that the stack refuses, or does not answer, keeps the driver and can be repeated",
        arguments: [(BluetoothError.Code.other, "unknownBluetoothError"), (.timeout, "connectionTimeout")])
    func refused(code: BluetoothError.Code, reported: String) async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            let error = BluetoothError(code, text: "busy")
            stage.manager.forget(.desk)
            stage.unlink(address)
            stage.central.report(.forgotten(address, error))
            #expect(stage.said().last == "forgotten 003R: \(reported)")
            #expect(stage.manager.tags[.desk] != nil)
            stage.manager.forget(.desk)
            #expect(stage.said() == ["> forget 01"])
        }
    }

    @Test("removes the bond of a tag that is connected under another identity; its refusal is no lost bond")
    func bondOfAnotherName() async throws {
        try await onLoop {
            for error in [nil, BluetoothError(.other, text: "busy")] {
                let stage = Stage()
                stage.manager.connect(.desk)
                let address = stage.hear(1, isPaired: true)
                stage.manager.forget(TagIdentity(address: address))
                stage.central.report(.forgotten(address, error))
                stage.lose(address, .authenticationFailed)
                let hasLostBond = stage.said().contains("003R disconnected: peerRemovedPairingInfo")
                #expect(hasLostBond == (error != nil))
                #expect(stage.manager.sightings.bonded.contains(address) == (error != nil))
            }
        }
    }

    @Test("that a new connection cancels keeps the tag's address after a later disconnection")
    func placeOfTagThatIsWantedAgain() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.forget(.desk)
            stage.manager.connect(.desk)
            stage.unlink(address)
            stage.central.report(.forgotten(address, nil))
            stage.link(address)
            stage.start(address)
            stage.manager.disconnect(.desk)
            stage.unlink(address)
            #expect(stage.said().last == "003R disconnected")
            #expect(stage.manager.address(of: .desk) == address)
        }
    }
}
