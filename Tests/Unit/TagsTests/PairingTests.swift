import Bluetooth
import EventLoop
import JacquardProtocol
import TagStage
import TestSupport
import Testing

@testable import Tags

@Suite("Pairing by command")
struct PairingTests {
    private static let refusal = BluetoothError(.authenticationFailed, text: "Authentication rejected")

    /// A stage with a tag that has just refused the bond; the link is still up.
    @LoopActor
    private static func refused(within limit: Duration) -> (Stage, BluetoothAddress) {
        let stage = Stage()
        stage.manager.pair(.desk, within: limit)
        let address = stage.hear(1)
        stage.central.report(.connected(address))
        stage.central.report(.pairFailed(address, refusal))
        return (stage, address)
    }

    @Test("finds, bonds and connects the tag")
    func stages() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.pair(.desk, within: .seconds(60))
            #expect(stage.said() == ["pairing 003R searching", "003R preparing", "> scan on"])
            let address = stage.hear(1)
            stage.central.report(.connected(address))
            #expect(
                stage.said() == [
                    "> accept 01", "> connect 01", "heard 003R at 01", "003R connecting 0", "pairing 003R found 01",
                    "> pair 01", "> scan off",
                ])
            stage.central.report(.paired(address))
            #expect(stage.said() == ["> discover 01", "pairing 003R bonded"])
            stage.discover(address)
            stage.start(address)
            #expect(stage.said().suffix(2) == ["003R connected", "paired 003R"])
            #expect(stage.manager.tags[.desk]?.isPairing == false && stage.manager.pairings.isEmpty)
        }
    }

    @Test("names its radio to a central with several, tries another one at once, and pauses after further failures")
    func radio() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.choosesRadio = true
            stage.manager.pair(.desk, within: .seconds(3600), radio: "hall")
            let address = stage.hear(1)
            #expect(stage.said().contains("> begin pairing 01 hall"))
            stage.central.report(.connected(address))
            let other = BluetoothError(.connectionFailed, name: BluetoothError.otherRadioName, text: "another radio")
            stage.central.report(.disconnected(address, other))
            #expect(stage.manager.tags[.desk]?.isLooking == true, "without a pause")
            for _ in 1...3 {
                stage.central.report(.connected(address))
                stage.lose(address)
            }
            #expect(stage.manager.tags[.desk]?.isLooking == false, "after a pause")
        }
    }

    @Test("uses the address of a tag that is linked, because an earlier process was killed, and does not advertise")
    func linkedBefore() async throws {
        try await onLoop {
            let stage = Stage()
            _ = stage.hear(1, isConnected: true)
            _ = stage.said()
            stage.manager.connect(.desk)
            #expect(!stage.said().contains("> connect 01"), "only a person who pairs says that it is the tag")
            stage.manager.pair(.desk, within: .seconds(60))
            #expect(stage.said().contains("> connect 01"))
        }
    }

    @Test("a check makes a new link with a radio, pairs nothing, and fails with the third link that fails")
    func check() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.choosesRadio = true
            let address = stage.connect(.desk)
            let dropped = BluetoothError(.connectionFailed, name: BluetoothError.otherRadioName, text: "dropped")
            _ = stage.said()
            stage.manager.pair(.desk, within: .seconds(60), radio: "hall", isCheck: true)
            #expect(stage.said() == ["pairing 003R searching", "> check bond 01 hall"])
            stage.central.report(.disconnected(address, dropped))
            #expect(stage.manager.tags[.desk]?.isLooking == true, "without a pause")
            stage.central.report(.connected(address))
            stage.discover(address)
            stage.start(address)
            let said = stage.said()
            #expect(said.contains("pairing 003R found 01") && !said.contains("> pair 01"))
            #expect(said.suffix(3) == ["003R connected", "> end pairing 01", "paired 003R"])
            stage.manager.pair(.desk, within: .seconds(60), radio: "loft", isCheck: true)
            stage.central.report(.disconnected(address, dropped))
            for number in 1...3 {
                #expect(stage.manager.pairings.count == 1)
                stage.central.report(.connected(address))
                stage.central.report(.disconnected(address, BluetoothError(.connectionFailed, text: "lost")))
                #expect(stage.said().contains("paired 003R: bluetoothConnectionError") == (number == 3))
                #expect(number == 3 || stage.manager.tags[.desk]?.isLooking == true, "without a pause")
            }
            #expect(stage.manager.pairings.isEmpty)
        }
    }

    @Test("a check does not take the end of an attempt that had a link before for its own link")
    func checkWhileConnecting() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.choosesRadio = true
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            stage.link(address)
            stage.manager.pair(.desk, within: .seconds(60), radio: "hall", isCheck: true)
            stage.start(address)
            #expect(stage.said().last == "003R connected")
            #expect(stage.manager.pairings.count == 1)
        }
    }

    @Test("a check ends with a bond that the tag does not accept, and leaves a tag disconnected that was so before")
    func refusedCheck() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.choosesRadio = true
            stage.manager.pair(.desk, within: .seconds(60), radio: "hall", isCheck: true)
            let address = stage.hear(1)
            stage.central.report(.connected(address))
            #expect(stage.said().contains("pairing 003R found 01"))
            let refused = BluetoothError(.connectionFailed, name: BluetoothError.bondRefusedName, text: "refused")
            stage.central.report(.disconnected(address, refused))
            let said = stage.said()
            #expect(said.contains("paired 003R: bluetoothConnectionError"))
            #expect(said.contains("003R disconnected"))
        }
    }

    @Test("of a connected tag bonds on the existing link")
    func connected() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.pair(.desk, within: .seconds(60))
            #expect(stage.said() == ["pairing 003R searching", "pairing 003R found 01", "> pair 01"])
            stage.central.report(.paired(address))
            #expect(stage.said() == ["pairing 003R bonded", "paired 003R"])
        }
    }

    @Test("of a connecting tag bonds on the existing link")
    func connecting() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            stage.central.report(.connected(address))
            _ = stage.said()
            stage.manager.pair(.desk, within: .seconds(3600))
            #expect(stage.said() == ["pairing 003R searching", "pairing 003R found 01", "> pair 01"])
            stage.central.report(.paired(address))
            stage.discover(address)
            stage.start(address)
            #expect(stage.said().suffix(2) == ["003R connected", "paired 003R"])
        }
    }

    @Test("of a connecting tag ends with a refusal, and the connection continues")
    func refusalWhileConnecting() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            stage.central.report(.connected(address))
            stage.manager.pair(.desk, within: .seconds(3600))
            stage.central.report(.pairFailed(address, Self.refusal))
            #expect(stage.said().last == "paired 003R: bluetoothConnectionError")
            stage.discover(address)
            stage.start(address)
            #expect(stage.said().last == "003R connected")
        }
    }

    @Test("of a connected tag continues on the next link if the link breaks")
    func lossMeanwhile() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.pair(.desk, within: .seconds(3600))
            stage.lose(address)
            _ = try await stage.said(upTo: "> connect 01")
            stage.central.report(.connected(address))
            #expect(stage.said().contains("> pair 01"))
            stage.central.report(.paired(address))
            stage.discover(address)
            stage.start(address)
            #expect(stage.said().last == "paired 003R")
        }
    }

    @Test("is retried after a refusal")
    func refusal() async throws {
        try await onLoop {
            let (stage, address) = Self.refused(within: .seconds(3600))
            #expect(stage.said().suffix(2) == ["003R preparing: bluetoothConnectionError", "> disconnect 01"])
            stage.unlink(address)
            _ = try await stage.said(upTo: "> connect 01")
            stage.central.report(.connected(address))
            #expect(stage.said().contains("> pair 01"))
        }
    }

    @Test("fails with the last refusal at the time limit")
    func refusalIsLast() async throws {
        try await onLoop {
            let (stage, address) = Self.refused(within: .milliseconds(10))
            // The link is still up, so that no other try begins before the end.
            _ = try await stage.said(upTo: "paired 003R: bluetoothConnectionError")
            stage.unlink(address)
            #expect(stage.said().contains("003R disconnected"))
        }
    }

    @Test("of a tag that is found but does not connect in time fails with a timeout")
    func notConnected() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.pair(.desk, within: .milliseconds(10))
            stage.central.report(.connected(stage.hear(1)))
            _ = try await stage.said(upTo: "paired 003R: connectionTimeout")
        }
    }

    @Test("fails if the tag is not found in time, and does not connect it later")
    func notFound() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.pair(.desk, within: .milliseconds(10))
            let said = try await stage.said(upTo: "003R disconnected")
            #expect(said.contains("paired 003R: bluetoothDeviceNotFound"))
            stage.hear(1)
            #expect(!stage.said().contains("> connect 01"))
        }
    }

    @Test("that fails keeps a connected tag connected, and does not bond on its next link")
    func wasWanted() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.pair(.desk, within: .seconds(60))
            stage.central.report(.pairFailed(address, Self.refusal))
            #expect(stage.said().last == "paired 003R: bluetoothConnectionError")
            stage.lose(address)
            _ = try await stage.said(upTo: "> connect 01")
            stage.central.report(.connected(address))
            #expect(stage.said() == ["003R connecting 0", "> discover 01", "> scan off"])
        }
    }

    @Test("fails while Bluetooth is off, and when it is switched off")
    func powerOff() async throws {
        try await onLoop {
            let off = Stage(state: .poweredOff)
            off.manager.pair(.desk, within: .seconds(60))
            #expect(
                off.said() == [
                    "pairing 003R searching", "003R disconnected: bluetoothPowerOff", "paired 003R: bluetoothPowerOff",
                ])
            let stage = Stage()
            stage.manager.pair(.desk, within: .seconds(60))
            _ = stage.said()
            stage.central.report(.stateChanged(.poweredOff))
            #expect(
                stage.said() == [
                    "003R disconnected: bluetoothPowerOff", "paired 003R: bluetoothPowerOff", "> scan off",
                    "central poweredOff",
                ])
        }
    }

    @Test("joins a pairing in progress")
    func joins() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.pair(.desk, within: .seconds(60))
            _ = stage.said()
            stage.manager.pair(.desk, within: .seconds(60))
            #expect(stage.said() == [])
            stage.manager.disconnect(.desk)
            let said = try await stage.said(upTo: "paired 003R: bluetoothConnectionError")
            #expect(said.contains("003R disconnected"))
        }
    }

    @Test("reports once that the tag was found, however many links it takes")
    func foundOnce() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.pair(.desk, within: .seconds(3600))
            let address = stage.hear(1)
            stage.central.report(.connected(address))
            #expect(stage.said().contains("pairing 003R found 01"))
            stage.lose(address)
            _ = try await stage.said(upTo: "> connect 01")
            stage.central.report(.connected(address))
            let second = stage.said()
            #expect(second.contains("> pair 01"))
            #expect(!second.contains("pairing 003R found 01"))
        }
    }
}
