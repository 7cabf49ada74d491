import Bluetooth
import EventLoop
import JacquardProtocol
import TagStage
import Tags
import TestSupport
import Testing

@testable import Jacquard

@Suite("A connected tag")
struct ConnectedTagTests {
    /// A tag that is connected by its address, and the stage it is on.
    @LoopActor
    private static func connected(
        _ catalogue: GearCatalogue = .builtIn
    ) throws -> (stage: Stage, tag: ConnectedTag) {
        let stage = Stage(catalogue: catalogue)
        let address = stage.hear(1, rssi: -47)
        try stage.jacquard.connect(address)
        stage.link(address)
        stage.start(address)
        _ = stage.said()
        return (stage, try #require(stage.jacquard.connectedTag(for: address)))
    }

    /// Gives a command and lets the tag have it before its answer is waited for.
    @LoopActor
    private static func ask(
        _ tag: ConnectedTag, _ command: TagCommand, _ stage: Stage
    ) async throws -> Task<Result<TagCommandResponse, TagCommandError>, Never> {
        let task = Task { @LoopActor in
            do throws(TagCommandError) {
                return Result<_, TagCommandError>.success(try await tag.enqueue(command))
            } catch {
                return .failure(error)
            }
        }
        _ = try await stage.said(upTo: "> write 01")
        return task
    }

    @Test("has its device information, name and signal strength")
    func facts() async throws {
        try await onLoop {
            let (_, tag) = try Self.connected()
            #expect(tag.identifier == .number(1))
            #expect(tag.name == "Desk" && tag.displayName == "Desk")
            #expect(tag.rssi == -47)
            #expect(tag.tagComponent.uuid == "tag-1")
            #expect(tag.tagComponent.version == FirmwareVersion(1, 96, 0))
            #expect(tag.capabilities == [.led])
            #expect(tag.gearComponent == nil && tag.touchMode == nil)
        }
    }

    @Test("executes a command and returns its response, which the event interface does not get")
    func command() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            let battery = BatteryStatus(level: 49, isCharging: false)
            let answer = try await Self.ask(tag, .batteryStatus, stage)
            stage.answer(tag.identifier, .batteryStatus(BatteryStatusReport(battery)))
            #expect(await answer.value == .success(.battery(battery)))
            #expect(stage.said() == ["@01 battery 49"])
        }
    }

    @Test("refuses an unsupported command immediately")
    func refused() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            stage.notify(tag.identifier, .attached(AttachedNotification()))
            _ = stage.said()
            await #expect(throws: TagCommandError.gearNotAttached) { try await tag.enqueue(.playHaptic(.stop)) }
            #expect(stage.said() == [])
        }
    }

    @Test("fails pending and later commands when its connection ends; the next connection has a new object")
    func ends() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            let pending = try await Self.ask(tag, .batteryStatus, stage)
            let notifications = Reader(tag.notifications)
            stage.lose(tag.identifier)
            #expect(await pending.value == .failure(.linkLost))
            #expect(await notifications.rest().isEmpty)
            #expect(stage.jacquard.connectedTag(for: tag.identifier) == nil)
            _ = try await stage.said(upTo: "> connect 01")
            stage.link(tag.identifier)
            stage.start(tag.identifier)
            let next = try #require(stage.jacquard.connectedTag(for: tag.identifier))
            #expect(next !== tag)
            await #expect(throws: TagCommandError.notConnected) { try await tag.enqueue(.batteryStatus) }
        }
    }

    @Test("reports its gear and touch mode to a late reader")
    func gear() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            let early = Reader(tag.connectedGear)
            stage.notify(tag.identifier, ScriptedTag.gear(101))
            #expect(await Reader(tag.connectedGear).next()??.componentID == 101)
            #expect(tag.gearComponent?.product.name == "Patch B0")
            #expect(tag.capabilities == [.led, .gesture, .touchDataStream, .haptic])
            stage.answer(tag.identifier, .dataChannel(DataChannelResponse()))
            stage.answer(tag.identifier)
            #expect(tag.touchMode == .gesture)
            stage.notify(tag.identifier, .attached(AttachedNotification()))
            #expect(await early.next(2).map { $0?.componentID } == [101, nil])
            #expect(tag.gearComponent == nil && tag.touchMode == nil)
        }
    }

    @Test("has the gear names and capabilities of the manager's catalogue")
    func catalogue() async throws {
        try await onLoop {
            let own = GearCatalogue.Entry(
                vendor: Component.Name(id: .google, name: "Workshop"),
                product: Component.Name(id: JacquardIdentifier(rawValue: 0x092F_41AB), name: "Sleeve"),
                capabilities: [.gesture])
            let (stage, tag) = try Self.connected(GearCatalogue(GearCatalogue.builtIn.entries + [own]))
            stage.notify(tag.identifier, ScriptedTag.gear(101))
            #expect(tag.gearComponent?.product.name == "Sleeve")
            await #expect(throws: TagCommandError.componentDoesNotSupportPlayHaptic) {
                try await tag.enqueue(.playHaptic(.stop))
            }
        }
    }

    @Test("changes the touch mode of the attached gear only")
    func touchMode() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            stage.notify(tag.identifier, ScriptedTag.gear(101))
            let former = try #require(tag.gearComponent)
            stage.notify(tag.identifier, ScriptedTag.gear(102))
            await #expect(throws: TagCommandError.gearNotAttached) {
                try await tag.setTouchMode(.continuous, for: former)
            }
            stage.answer(tag.identifier, .dataChannel(DataChannelResponse()))
            stage.answer(tag.identifier)
            let gear = try #require(tag.gearComponent)
            _ = stage.said()
            let task = Task { @LoopActor in try await tag.setTouchMode(.continuous, for: gear) }
            _ = try await stage.said(upTo: "> write 01")
            stage.lose(tag.identifier)
            await #expect(throws: TagCommandError.linkLost) { try await task.value }
        }
    }

    @Test("stores notifications for the first streams")
    func notifications() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.hear(1)
            try stage.jacquard.connect(address)
            stage.link(address)
            stage.notify(address, .batteryStatus(BatteryStatus(level: 50, isCharging: false)))
            stage.start(address)
            stage.gesture(address)
            let tag = try #require(stage.jacquard.connectedTag(for: address))
            let notifications = Reader(tag.notifications)
            stage.gesture(address, .brushIn)
            let received = await notifications.next(3)
            #expect(
                received == [
                    .battery(BatteryStatus(level: 50, isCharging: false)), .gesture(.doubleTap), .gesture(.brushIn),
                ])
        }
    }

    @Test("ends all its streams with the connection")
    func end() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            let (notifications, gears, names) = (
                Reader(tag.notifications), Reader(tag.connectedGear), Reader(tag.names)
            )
            stage.notify(tag.identifier, ScriptedTag.gear(101))
            try stage.jacquard.disconnect(tag.identifier)
            stage.unlink(tag.identifier)
            #expect(await notifications.rest() == [.gear(tag.gearComponent)])
            #expect(await gears.rest().compactMap(\.?.componentID) == [101])
            #expect(await names.rest() == ["Desk"])
        }
    }

    @Test("of a connection made by the event interface has the earlier values")
    func joined() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.notify(address, .batteryStatus(BatteryStatus(level: 50, isCharging: true)))
            stage.notify(address, ScriptedTag.gear(101))
            let tag = try #require(stage.jacquard.connectedTag(for: address))
            #expect(tag.gearComponent?.componentID == 101)
            let received = await Reader(tag.notifications).next(2)
            #expect(received == [.battery(BatteryStatus(level: 50, isCharging: true)), .gear(tag.gearComponent)])
        }
    }

    @Test("accepts a new name of 1 to 21 bytes", arguments: ["", "Desk", "Über den Wolken am Meer"])
    func badName(name: String) async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            await #expect(throws: SetNameError.invalidParameter) { try await tag.setName(name) }
            #expect(stage.said() == [])
        }
    }

    @Test("has its new name immediately, and in its next connection")
    func rename() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            let names = Reader(tag.names)
            let done = Task { @LoopActor in try await tag.setName("Chair") }
            _ = try await stage.said(upTo: "> write 01")
            stage.answer(tag.identifier)
            stage.lose(tag.identifier)
            try await done.value
            #expect(tag.name == "Chair")
            #expect(await names.next() == "Desk")
            _ = try await stage.said(upTo: "> connect 01")
            stage.link(tag.identifier)
            stage.start(tag.identifier)
            #expect(stage.jacquard.connectedTag(for: tag.identifier)?.name == "Chair")
        }
    }

    @Test("updates a name that is advertised while it is connected")
    func advertisedName() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            let names = Reader(tag.names)
            stage.hear(1, name: "Lamp")
            #expect(await names.next(2) == ["Desk", "Lamp"])
        }
    }

    @Test("keeps the newest 16 changes of its name and of its gear for a slow reader, and the latest for a new one")
    func bounds() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            let (names, gears) = (Reader(tag.names), Reader(tag.connectedGear))
            for number in 1...20 as ClosedRange<UInt32> {
                stage.hear(1, name: "Lamp \(number)")
                stage.notify(tag.identifier, ScriptedTag.gear(number))
            }
            #expect(await names.next(16) == (5...20).map { "Lamp \($0)" })
            #expect(await gears.next(16).map { $0?.componentID } == (5...20).map { UInt32?($0) })
            #expect(await Reader(tag.names).next() == "Lamp 20")
        }
    }

    @Test("reports its gear to a reader of a connection that the other interface has made")
    func joinedGear() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.notify(address, ScriptedTag.gear(101))
            let tag = try #require(stage.jacquard.connectedTag(for: address))
            let gears = Reader(tag.connectedGear)
            stage.notify(address, ScriptedTag.gear(102))
            #expect(await gears.next(2).map { $0?.componentID } == [101, 102])
        }
    }

    @Test("has the signal strength of its last advertisement, and keeps it if the next has none")
    func strength() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            stage.hear(1, rssi: -81)
            #expect(tag.rssi == -81)
            stage.hear(1, rssi: nil)
            #expect(tag.rssi == -81)
        }
    }

    @Test("does not change after its connection has ended")
    func ended() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            stage.lose(tag.identifier)
            stage.hear(1, rssi: -81, name: "Lamp")
            #expect(tag.name == "Desk" && tag.rssi == -47)
        }
    }

    @Test("gets responses to its own commands only, whatever the tokens of the event interface")
    func tokens() async throws {
        try await onLoop {
            let (stage, tag) = try Self.connected()
            stage.notify(tag.identifier, .attached(AttachedNotification()))
            let pending = try await Self.ask(tag, .batteryStatus, stage)
            let tokens: [UInt64] = [1, 0x8000_0001, 0x7FFF_FFFF_FFFF_FFFF]
            for token in tokens {
                stage.manager.enqueue(.playHaptic(.stop), on: TagIdentity(address: tag.identifier), token: token)
            }
            #expect(stage.said() == tokens.map { "@01 command \($0): gearNotAttached" })
            stage.lose(tag.identifier)
            #expect(await pending.value == .failure(.linkLost))
        }
    }
}
