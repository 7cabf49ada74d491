import Bluetooth
import EventLoop
import JacquardProtocol
import TagStage
import TestSupport
import Testing

@testable import Jacquard
@testable import Tags

@Suite("The stream of a connection")
struct ConnectionStateTests {
    private static let steps = [
        "preparing", "connecting 0/14", "connecting 1/14", "connecting 2/14", "connecting 3/14", "connecting 4/14",
        "initializing 5/14", "initializing 6/14", "initializing 7/14", "initializing 8/14", "initializing 9/14",
        "configuring 10/14", "connected",
    ]

    @Test("reports each of 14 steps, the tag, and the end")
    func steps() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.hear(1)
            let tag = try #require(stage.manager.advertisement(at: address))
            let states = Reader(try stage.jacquard.connect(tag))
            stage.link(address)
            stage.start(address)
            #expect(await states.next(13).map(\.line) == Self.steps)
            try stage.jacquard.disconnect(address)
            stage.unlink(address)
            #expect(await states.rest().map(\.line) == ["disconnected"])
        }
    }

    @Test("starts with the current state for a second reader, without a second link")
    func joins() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            let first = Reader(try stage.jacquard.connect(address))
            let second = Reader(try stage.jacquard.connect(PreConnectedTag(identifier: address, displayName: "")))
            #expect(stage.said() == [])
            guard case .connected(let one) = await first.next(), case .connected(let other) = await second.next() else {
                Issue.record("not connected")
                return
            }
            #expect(one === other)
            #expect(one === stage.jacquard.connectedTag(for: address))
        }
    }

    @Test("begins without the values of the last link")
    func facts() {
        var facts = TagFacts()
        facts.update(with: .battery(BatteryStatus(level: 50, isCharging: false)))
        facts.update(with: .gear(nil))
        facts.update(with: .connection(TagConnection(state: .connecting(step: 0), attempt: 1)))
        #expect(facts.battery == nil && !facts.isGearKnown && facts.isLinked)
        facts.update(with: .gear(nil))
        facts.update(with: .connection(TagConnection(state: .connecting(step: 1), attempt: 1)))
        #expect(facts.isGearKnown)
    }

    @Test("ends with the first error before the tag is ready, for a tag that a scan has found")
    func firstErrorIsFinal() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.hear(1)
            let tag = try #require(stage.manager.advertisement(at: address))
            let states = Reader(try stage.jacquard.connect(tag))
            stage.lose(address)
            #expect(await states.rest().map(\.line) == ["preparing", "disconnected: bluetoothConnectionError"])
            #expect(stage.jacquard.followers.isEmpty)
        }
    }

    @Test("ends after the time for a connection, for a tag that a scan has found")
    func timeout() async throws {
        try await onLoop {
            let stage = Stage(connectionLimit: .milliseconds(10))
            let address = stage.hear(1)
            let tag = try #require(stage.manager.advertisement(at: address))
            let states = Reader(try stage.jacquard.connect(tag))
            _ = try await stage.said(upTo: "> disconnect 01")
            stage.unlink(address)
            #expect(await states.rest().map(\.line) == ["preparing", "disconnected: connectionTimeout"])
        }
    }

    @Test("continues after errors and the time limit for a known tag")
    func known() async throws {
        try await onLoop {
            let stage = Stage(connectionLimit: .milliseconds(10))
            let address = stage.hear(1)
            let states = Reader(try stage.jacquard.connect(address))
            _ = try await stage.said(upTo: "> disconnect 01")
            stage.unlink(address)
            #expect(try await stage.said(upTo: "> connect 01").first == "@01 preparing: connectionTimeout")
            #expect(await states.next(2).map(\.line) == ["preparing", "preparing"])
        }
    }

    @Test("works for a bonded device that has not advertised, such as one of an earlier run")
    func afterRestart() async throws {
        try await onLoop {
            let stage = Stage()
            stage.central.report(
                .discovered(.number(1), Advertisement(name: nil, manufacturerData: [:], rssi: nil, isPaired: true)))
            try stage.jacquard.connect(.number(1))
            #expect(stage.said().contains("> connect 01"))
        }
    }

    @Test("is refused for an unknown address, and for an identifier of another type")
    func refused() async throws {
        try await onLoop {
            let stage = Stage()
            let unknown = #expect(throws: TagConnectionError.self) { try stage.jacquard.connect(.number(9)) }
            #expect(unknown?.code == .bluetoothDeviceNotFound)
            let gone = #expect(throws: TagConnectionError.self) { try stage.jacquard.disconnect(.number(9)) }
            #expect(gone?.code == .bluetoothDeviceNotFound)
            let foreign = #expect(throws: TagConnectionError.self) { try stage.jacquard.connect(ForeignTag()) }
            #expect(foreign?.code == .unconnectableTag)
            #expect(stage.said() == [])
        }
    }

    @Test("of a disconnection is empty for a disconnected tag")
    func notWanted() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.hear(1)
            let states = Reader(try stage.jacquard.disconnect(address))
            #expect(await states.rest().isEmpty)
        }
    }

    @Test("ends when Bluetooth is switched off, and immediately while it is off")
    func powerOff() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.hear(1)
            let states = Reader(try stage.jacquard.connect(address))
            stage.central.report(.stateChanged(.poweredOff))
            #expect(await states.rest().map(\.line) == ["preparing", "disconnected: bluetoothPowerOff"])
            let refused = Reader(try stage.jacquard.connect(address))
            #expect(await refused.rest().map(\.line) == ["disconnected: bluetoothPowerOff"])
        }
    }

    @Test("belongs to a tag that is added for it, and removed at its end")
    func handles() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.hear(1)
            var handles: Set<TagHandle> = []
            stage.onEvent = { if case .tag(let tag, _) = $0 { handles.insert(tag) } }
            try stage.jacquard.connect(address)
            stage.link(address)
            stage.start(address)
            #expect(stage.manager.tag(at: address).map { handles == [$0] } == true)
            try stage.jacquard.disconnect(address)
            stage.unlink(address)
            #expect(handles.allSatisfy { TagHandle.ofInterface.contains($0.number) })
            #expect(handles.allSatisfy { stage.manager.identity(of: $0) == nil })
            #expect(stage.manager.tag(at: address) == nil && stage.jacquard.followers.isEmpty)
            #expect(stage.manager.rows.isEmpty)
        }
    }
}

private struct ForeignTag: ConnectableTag {
    let identifier = BluetoothAddress.number(1)
    let displayName = "Made up"
}
