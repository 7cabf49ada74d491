import Bluetooth
import EventLoop
import JacquardProtocol
import TagStage
import TestSupport
import Testing

@testable import Tags

@Suite("Tags of a manager")
struct RowTests {
    private let first = TagHandle(number: 1)
    private let second = TagHandle(number: 2)

    /// A stage whose first tag is connected.
    @LoopActor private func connected() -> (Stage, BluetoothAddress) {
        let stage = Stage()
        stage.manager.add(first, .desk)
        return (stage, stage.connect(.desk))
    }

    @Test("are named by the handles with which they were added, in calls and events")
    func names() async throws {
        try await onLoop {
            let stage = Stage()
            var named: [TagHandle] = []
            stage.onEvent = { if case .tag(let tag, _) = $0 { named.append(tag) } }
            stage.manager.add(first, .desk)
            stage.manager.add(second, TagIdentity(serial: .attic))
            stage.manager.connect(second)
            stage.manager.connect(first)
            #expect(named == [second, first])
            stage.manager.add(first, TagIdentity(serial: .attic))
            #expect(stage.manager.serial(of: first) == "003R", "an added handle keeps its tag")
        }
    }

    @Test("that were not added answer commands and requests to forget, and nothing else")
    func unknown() async throws {
        try await onLoop {
            let stage = Stage()
            var ended: [String] = []
            stage.onEvent = { event in
                switch event {
                case .tag(let tag, .commandEnded(let token, .failure(let error))):
                    ended.append("\(tag.number) \(token) \(error)")
                case .forgotten(let tag, nil): ended.append("\(tag.number) forgotten")
                default: ended.append("\(event)")
                }
            }
            stage.manager.connect(first)
            stage.manager.disconnect(first)
            stage.manager.pair(first, within: .seconds(60), radio: nil, isCheck: false)
            stage.manager.observeRawData(.packet, of: first)
            stage.manager.expect(first, at: .number(1))
            stage.manager.reportAgain(first)
            stage.manager.remove(first)
            stage.manager.enqueue(.batteryStatus, on: first, token: 7, isFirst: false)
            stage.manager.forget(first)
            try await until("both answers") { ended.count == 2 }
            #expect(ended == ["1 7 notConnected", "1 forgotten"])
            #expect(stage.manager.address(of: first) == nil && stage.manager.advertisement(of: first) == nil)
            #expect(!stage.manager.isConnected(first))
        }
    }

    @Test("keep their state under a new handle")
    func renamed() async throws {
        try await onLoop {
            let (stage, address) = connected()
            stage.manager.add(second, .desk)
            #expect(stage.manager.tag(at: address) == second && stage.manager.address(of: first) == nil)
            var tags: [TagHandle] = []
            stage.onEvent = { if case .tag(let tag, .gesture) = $0 { tags.append(tag) } }
            stage.gesture(address)
            #expect(tags == [second])
        }
    }

    @Test("end when they are removed and disconnected, and can be added again before")
    func removed() async throws {
        try await onLoop {
            let (stage, address) = connected()
            stage.manager.disconnect(first)
            stage.manager.remove(first)
            #expect(stage.manager.address(of: first) == nil && stage.manager.tag(at: address) == first)
            stage.manager.add(second, .desk)
            stage.unlink(address)
            #expect(stage.manager.address(of: second) == address)
            stage.manager.remove(second)
            #expect(stage.manager.rows.isEmpty && stage.manager.rowsByIdentity.isEmpty && stage.manager.drivers.isEmpty)
            let fixed = TagIdentity(serial: .attic, address: .number(9))
            stage.manager.add(first, fixed)
            stage.manager.remove(first)
            #expect(stage.manager.rowsByIdentity.isEmpty && stage.manager.rowsByAddress.isEmpty)
        }
    }

    @Test("leave nothing behind if they are removed while they wait for an address, with the refusal that follows")
    func removedWhileWaiting() async throws {
        try await onLoop {
            let (stage, address) = connected()
            let successor = TagIdentity(address: address)
            stage.manager.disconnect(first)
            stage.manager.connect(successor)
            stage.manager.remove(stage.manager.handle(successor))
            #expect(stage.manager.rowsByIdentity[successor] != nil)
            stage.manager.connect(first)
            stage.unlink(address)
            #expect(stage.said().last?.hasSuffix(" disconnected: unconnectableTag") == true)
            #expect(stage.manager.rowsByIdentity[successor] == nil)
        }
    }

    @Test("leave nothing behind if they are removed while their old bond is, with the end of the pairing")
    func removedWhileBondIsRemoved() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.add(first, .desk)
            stage.manager.connect(first)
            let address = stage.hear(1, isPaired: true)
            stage.lose(address, .authenticationFailed)
            #expect(stage.said().contains("003R disconnected: peerRemovedPairingInfo"))
            stage.manager.pair(first, within: .milliseconds(10), radio: nil, isCheck: false)
            #expect(stage.said().contains("> forget 01"))
            stage.manager.remove(first)
            #expect(stage.manager.rowsByIdentity.count == 1)
            _ = try await stage.said(upTo: "paired 003R: bluetoothDeviceNotFound")
            #expect(stage.manager.rowsByIdentity.isEmpty)
        }
    }

    @Test("are known by their address, which has the name that they were given")
    func address() async throws {
        try await onLoop {
            let (stage, address) = connected()
            #expect(stage.manager.isKnown(address) && !stage.manager.isKnown(.number(9)))
            stage.manager.renamed(address, to: "Chair")
            #expect(stage.manager.advertisement(of: first)?.displayName == "Chair")
        }
    }

    @Test("are recognized in advertisements by their address or serial")
    func advertised() async throws {
        try await onLoop {
            let stage = Stage()
            var known: [[TagHandle]] = []
            stage.onEvent = { if case .advertised(_, isNew: _, of: let tags) = $0 { known.append(tags) } }
            stage.manager.add(first, .desk)
            stage.manager.add(second, TagIdentity(serial: .attic, address: .number(2)))
            stage.hear(1)
            stage.hear(2, .desk)
            stage.hear(3, .attic)
            stage.manager.remove(first)
            stage.hear(1)
            #expect(known == [[first], [second, first], [], []])
        }
    }

    @Test("are not recognized at another address than the one at which they were found")
    func advertisedElsewhere() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.add(first, .desk)
            stage.manager.connect(first)
            stage.hear(1)
            var known: [[TagHandle]] = []
            stage.onEvent = { if case .advertised(_, isNew: _, of: let tags) = $0 { known.append(tags) } }
            stage.hear(2)
            stage.hear(1)
            #expect(known == [[], [first]])
        }
    }

    @Test("report the values of their connection again")
    func again() async throws {
        try await onLoop {
            let (stage, address) = connected()
            stage.manager.reportAgain(first)
            #expect(stage.said().prefix(2) == ["003R information", "003R connected"])
            stage.manager.disconnect(first)
            stage.unlink(address)
            _ = stage.said()
            stage.manager.reportAgain(first)
            #expect(stage.said().last == "003R disconnected")
        }
    }
}
