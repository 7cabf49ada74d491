import Bluetooth
import EventLoop
import JacquardProtocol
import Logging
import TestSupport
import Testing
import Time

@testable import Jacquard

@Suite("Finding a tag")
struct FindingTests {
    @Test("takes the address from the first advertisement with the serial, and may pair from then on")
    func bySerial() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            stage.hear(7, .attic)
            stage.hear(1)
            stage.hear(1)
            #expect(
                stage.said() == [
                    "003R preparing", "> scan on", "heard 0086 at 07", "> accept 01", "> connect 01",
                    "heard 003R at 01", "again 003R at 01",
                ])
        }
    }

    @Test("needs no advertisement where the address is fixed, and takes no other")
    func byAddress() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(TagIdentity(serial: .desk, address: .number(1)))
            #expect(stage.said() == ["> accept 01", "003R@01 preparing", "> connect 01", "> scan on"])
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 02"])
        }
    }

    @Test("stays with its address while the tag gives a sign of life there")
    func staysWithAddress() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            stage.hear(1)
            _ = stage.said()
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 02"])
        }
    }

    @Test("follows the tag to another address after 30 s of silence")
    func newAddress() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            stage.hear(1)
            stage.manager.tags[.desk]?.lastSign = .now - .seconds(31)
            _ = stage.said()
            stage.hear(2)
            #expect(stage.said() == ["> disconnect 01", "> accept 02", "> connect 02", "heard 003R at 02"])
            stage.unlink(.number(1))
            #expect(stage.said() == [])
            stage.link(.number(2))
            #expect(stage.said().first == "003R connecting 0")
        }
    }

    @Test("counts a link, and its loss, as signs of life")
    func linkIsSign() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            let events: [CentralEvent] = [.connected(address), .disconnected(address, nil)]
            for event in events {
                let before = Instant.now
                stage.manager.tags[.desk]?.lastSign = before - .seconds(600)
                stage.central.tell(event)
                let sign = try #require(stage.manager.tags[.desk]?.lastSign)
                #expect(sign >= before)
            }
        }
    }

    @Test("tells once that two tags have one serial, and connects only the first")
    func duplicateSerial() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            stage.hear(1)
            stage.hear(2)
            _ = stage.said()
            for number in [1, 2, 1, 2] { stage.hear(number) }
            #expect(
                stage.said() == [
                    "again 003R at 01", "duplicate 003R at 01 02", "again 003R at 02", "again 003R at 01",
                    "again 003R at 02",
                ])
            #expect(stage.log.records.filter { $0.message == "several tags have one serial" }.count == 1)
            stage.link(.number(1))
            stage.start(.number(1))
            _ = stage.said()
            stage.gesture(.number(2))
            #expect(stage.said() == [])
            stage.gesture(.number(1))
            #expect(stage.said() == ["003R gesture 1"])
        }
    }

    @Test("tells of a tag with the serial of one that is connected")
    func duplicateOfConnected() async throws {
        try await onLoop {
            let stage = Stage()
            _ = stage.connect(.desk)
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 02", "duplicate 003R at 01 02"])
        }
    }

    @Test("keeps two tags of one serial apart by their addresses")
    func twoAddresses() async throws {
        try await onLoop {
            let stage = Stage()
            let first = stage.connect(TagIdentity(serial: .desk, address: .number(1)), at: 1)
            let second = stage.connect(TagIdentity(serial: .desk, address: .number(2)), at: 2)
            stage.gesture(second, .brushIn)
            stage.gesture(first, .brushOut)
            #expect(stage.said() == ["003R@02 gesture 2", "003R@01 gesture 3"])
        }
    }

    @Test("gives an address to one identity: a second one for it is refused")
    func oneAddressOneIdentity() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.connect(TagIdentity(address: address))
            #expect(stage.said() == ["@01 disconnected: unconnectableTag"])
            stage.gesture(address)
            #expect(stage.said() == ["003R gesture 1"])
            stage.manager.disconnect(.desk)
            stage.unlink(address)
            _ = stage.said()
            stage.manager.connect(TagIdentity(address: address))
            #expect(stage.said() == ["> accept", "> accept 01", "@01 preparing", "> connect 01", "> scan on"])
        }
    }

    @Test("lets an identity wait for the address that another one is leaving")
    func addressIsLeft() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.disconnect(.desk)
            stage.manager.connect(TagIdentity(serial: .desk, address: address))
            #expect(stage.said() == ["> disconnect 01"])
            stage.unlink(address)
            #expect(
                stage.said() == [
                    "003R disconnected", "> accept", "> accept 01", "003R@01 preparing", "> connect 01", "> scan on",
                ])
            stage.link(address)
            stage.start(address)
            #expect(stage.said().last == "003R@01 connected")
        }
    }

    @Test("refuses who waits for an address when the other one stays, or Bluetooth goes off")
    func addressIsKept() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.disconnect(.desk)
            stage.manager.connect(TagIdentity(address: address))
            stage.manager.connect(.desk)
            stage.unlink(address)
            #expect(
                stage.said() == [
                    "> disconnect 01", "003R preparing", "> connect 01", "> scan on",
                    "@01 disconnected: unconnectableTag",
                ])
            stage.manager.disconnect(.desk)
            stage.manager.connect(TagIdentity(address: address))
            _ = stage.said()
            stage.central.tell(.stateChanged(.poweredOff))
            #expect(stage.said().contains("@01 disconnected: bluetoothPowerOff"))
        }
    }

    @Test("bonds with a tag that is paired while it waits for its address")
    func pairedWhileWaiting() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            let successor = TagIdentity(serial: .desk, address: address)
            stage.manager.disconnect(.desk)
            stage.manager.connect(successor)
            stage.manager.pair(successor, within: .seconds(3600))
            stage.manager.connect(successor)
            stage.unlink(address)
            _ = stage.said()
            stage.central.tell(.connected(address))
            #expect(stage.said().contains("> pair 01"))
        }
    }

    @Test("drops the wish for an address when it is taken back")
    func addressIsNotWanted() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.disconnect(.desk)
            stage.manager.connect(TagIdentity(address: address))
            stage.manager.disconnect(TagIdentity(address: address))
            #expect(stage.said() == ["> disconnect 01", "@01 disconnected"])
            stage.unlink(address)
            #expect(stage.said() == ["003R disconnected"])
        }
    }
}
