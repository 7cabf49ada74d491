import Bluetooth
import EventLoop
import JacquardProtocol
import Logging
import TagStage
import TestSupport
import Testing
import Time

@testable import Tags

@Suite("Finding a tag")
struct FindingTests {
    @Test("takes the address from the first advertisement with the serial, and accepts pairing from then on")
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

    @Test("starts with the devices that the stack remembers, which are requested first")
    func remembered() async throws {
        try await onLoop {
            let central = ScriptedCentral()
            var requests: [String] = []
            central.onRequest = { requests.append(Line.of($0)) }
            let manager = TagManager(central: central, log: Logger("test", to: MemorySink()))
            withExtendedLifetime(manager) {}
            #expect(requests == ["> watch"])
        }
    }

    @Test("needs no advertisement for a fixed address, and uses no other address")
    func byAddress() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(TagIdentity(serial: .desk, address: .number(1)))
            #expect(stage.said() == ["> accept 01", "003R@01 preparing", "> connect 01", "> scan on"])
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 02"])
        }
    }

    @Test("keeps the address while the tag is active there")
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

    @Test(
        "moves a tag that was never connected to another address after 30 s of silence, without waiting for Connect")
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

    @Test("never moves a tag that was connected: another address is a second tag", arguments: [false, true])
    func impersonated(isBonded: Bool) async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1, isPaired: isBonded)
            stage.link(address)
            stage.start(address)
            stage.lose(address)
            let deadline = try #require(stage.manager.tags[.desk]?.session.deadline)
            stage.manager.tags[.desk]?.drive { session, _ in session.deadlineReached(at: deadline) }
            stage.manager.tags[.desk]?.lastSign = .now - .seconds(3600)
            _ = stage.said()
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 02", "duplicate 003R at 01 02"])
            stage.link(.number(2))
            #expect(stage.said() == ["> disconnect 02"])
            #expect(stage.manager.address(of: .desk) == address)
        }
    }

    @Test("never moves a tag that an earlier run has connected")
    func impersonatedAfterRestart() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.expect(.desk, at: .number(1))
            stage.manager.connect(.desk)
            #expect(stage.said() == ["> accept 01", "003R preparing", "> connect 01", "> scan on"])
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 02", "duplicate 003R at 01 02"])
        }
    }

    @Test("immediately uses the device with the bond, whatever address was known")
    func bondDecides() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.expect(.desk, at: .number(1))
            stage.manager.connect(.desk)
            stage.hear(1)
            _ = stage.said()
            stage.central.report(.bonds([.number(2)]))
            stage.hear(2, isPaired: true)
            #expect(stage.said() == ["> disconnect 01", "> accept 02", "> connect 02", "heard 003R at 02"])
            // The other way round it is another tag, also while the user pairs this one.
            stage.manager.pair(.desk, within: .seconds(3600))
            _ = stage.said()
            stage.hear(1)
            #expect(stage.said() == ["again 003R at 01", "duplicate 003R at 01 02"])
        }
    }

    @Test("lets a pairing move a tag without a bond to another address immediately")
    func pairedElsewhere() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.expect(.desk, at: .number(1))
            stage.manager.connect(.desk)
            stage.manager.pair(.desk, within: .seconds(3600))
            _ = stage.said()
            stage.hear(2)
            #expect(stage.said() == ["> disconnect 01", "> accept 02", "> connect 02", "heard 003R at 02"])
        }
    }

    @Test("stays at the address of the last run where the tag advertises, also during a pairing")
    func expectedAddress() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.expect(.desk, at: .number(1))
            stage.manager.pair(.desk, within: .seconds(3600))
            _ = stage.said()
            stage.hear(1)
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 01", "heard 003R at 02", "duplicate 003R at 01 02"])
        }
    }

    @Test("reports a duplicate again after the tag is paired, because the report before is solved")
    func reportedAgainAfterPairing() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.hear(2)
            #expect(stage.said().contains("duplicate 003R at 01 02"))
            stage.hear(2)
            #expect(!stage.said().contains("duplicate 003R at 01 02"))
            stage.manager.pair(.desk, within: .seconds(3600))
            stage.central.report(.paired(address))
            stage.hear(2)
            #expect(stage.said().contains("duplicate 003R at 01 02"))
        }
    }

    @Test("reports a duplicate again after the tag is removed, because the report before is solved")
    func reportedAgain() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.expect(.desk, at: .number(1))
            stage.manager.connect(.desk)
            stage.hear(2)
            stage.hear(2)
            #expect(stage.said().count { $0 == "duplicate 003R at 01 02" } == 1)
            stage.manager.forget(.desk)
            stage.central.report(.disconnected(.number(1), nil))
            stage.central.report(.forgotten(.number(1), nil))
            _ = stage.said()
            stage.manager.expect(.desk, at: .number(1))
            stage.hear(2)
            #expect(stage.said().contains("duplicate 003R at 01 02"))
        }
    }

    @Test("pairs with the first of two devices without a bond that both advertise the serial")
    func pairedAmongTwo() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.pair(.desk, within: .seconds(3600))
            for number in [1, 2, 1, 2] { stage.hear(number) }
            let connects = stage.said().filter { $0.contains("connect ") }
            #expect(connects == ["> connect 01"])
            stage.manager.tags[.desk]?.lastSign = .now - .seconds(6)
            stage.hear(2)
            #expect(stage.said().contains("> connect 02"))
        }
    }

    @Test("does not let a pairing move a tag whose bond was known before it advertised")
    func bondKnownFromStart() async throws {
        try await onLoop {
            let stage = Stage()
            stage.central.report(.bonds([.number(1)]))
            stage.manager.expect(.desk, at: .number(1))
            stage.manager.pair(.desk, within: .seconds(3600))
            _ = stage.said()
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 02", "duplicate 003R at 01 02"])
        }
    }

    @Test("recognizes a tag without a driver only at its known address or by its bond")
    func recognition() async throws {
        try await onLoop {
            let stage = Stage()
            @LoopActor func isDesk(_ number: Int, isPaired: Bool = false) -> Bool {
                let advertisement = ScriptedTag(number, serial: .desk).advertisement(isPaired: isPaired)
                return AdvertisedTag(.number(number), advertisement).map { stage.manager.isTag(.desk, $0) } ?? false
            }
            #expect(isDesk(2))
            stage.manager.expect(.desk, at: .number(1))
            #expect(isDesk(1))
            #expect(!isDesk(2))
            #expect(isDesk(2, isPaired: true))
            stage.central.report(.bonds([.number(1)]))
            #expect(!isDesk(2, isPaired: true))
            stage.manager.forget(.desk)
            stage.central.report(.forgotten(.number(1), nil))
            #expect(isDesk(2))
        }
    }

    @Test("reports a second device that the Bluetooth stack remembers")
    func rememberedDuplicate() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.expect(.desk, at: .number(1))
            let stranger = ScriptedTag(2, serial: .desk).advertisement(rssi: nil)
            stage.central.report(.remembered(.number(1), stranger))
            #expect(stage.said() == [])
            stage.central.report(.remembered(.number(2), stranger))
            #expect(stage.said() == ["duplicate 003R at 01 02"])
        }
    }

    @Test("counts a link and its loss as activity")
    func linkIsSign() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            let events: [CentralEvent] = [.connected(address), .disconnected(address, nil)]
            for event in events {
                let before = Instant.now
                stage.manager.tags[.desk]?.lastSign = before - .seconds(600)
                stage.central.report(event)
                let sign = try #require(stage.manager.tags[.desk]?.lastSign)
                #expect(sign >= before)
            }
        }
    }

    @Test("reports once that two tags have one serial, and connects only the first")
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

    @Test("reports a tag with the serial of one that is connected")
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

    @Test("assigns an address to one identity: a second one is refused")
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

    @Test("lets an identity wait for the address of one that is disconnecting")
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

    @Test("refuses a request that waits for an address if the other identity stays or Bluetooth is switched off")
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
            stage.central.report(.stateChanged(.poweredOff))
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
            stage.central.report(.connected(address))
            #expect(stage.said().contains("> pair 01"))
        }
    }

    @Test("drops the request for an address when it is cancelled")
    func addressIsNotWanted() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.disconnect(.desk)
            stage.manager.connect(TagIdentity(address: address))
            var attempts: [Int] = []
            stage.onEvent = { event in
                if case .tag(_, .connection(let connection)) = event { attempts.append(connection.attempt) }
            }
            stage.manager.disconnect(TagIdentity(address: address))
            #expect(attempts == [1])
            #expect(stage.said() == ["> disconnect 01", "@01 disconnected"])
            stage.unlink(address)
            #expect(stage.said() == ["003R disconnected"])
        }
    }

    @Test("holds one request for an address of each tag, however often it was made")
    func addressIsWantedOnce() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            let successor = TagIdentity(address: address)
            stage.manager.disconnect(.desk)
            for _ in 1...2 { stage.manager.connect(successor) }
            stage.manager.disconnect(successor)
            stage.unlink(address)
            #expect(stage.said() == ["> disconnect 01", "@01 disconnected", "003R disconnected"])
        }
    }

    @Test("uses the request for an address once: its end is reported once")
    func addressIsUsed() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            let successor = TagIdentity(address: address)
            stage.manager.disconnect(.desk)
            stage.manager.connect(successor)
            stage.unlink(address)
            _ = stage.said()
            stage.manager.disconnect(successor)
            stage.unlink(address)
            #expect(stage.said().count { $0 == "@01 disconnected" } == 1)
        }
    }

    @Test("reports one tag with a changed address, not two tags, while each address was received once and has no link")
    func changedAddress() async throws {
        try await onLoop {
            let stage = Stage()
            stage.hear(1)
            stage.hear(2)
            #expect(stage.said() == ["heard 003R at 01", "heard 003R at 02"])
            stage.hear(1)
            #expect(stage.said().contains("duplicate 003R at 01 02"))
        }
    }
}
