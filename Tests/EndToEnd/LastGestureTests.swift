import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The last gestures on a link are published")
struct LastGestureTests {
    @LoopActor
    private static func sequence(_ world: World) -> [Int] {
        world.results("jacquard/tag/0001/gesture").compactMap { $0["seq"] as? Int }
    }

    @Test("if they are made while BlueZ drops the link")
    func whileDisconnecting() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("bluez ignore Disconnect")
            let topic = "jacquard/tag/0001/connection"
            try world.observer.publish(topic + "/set", "disconnect")
            try await until("the bridge begins") { world.results(topic + "/result").count == 1 }
            try await world.simulate("gesture 0001 double_tap 5")
            try await until("all five") { Self.sequence(world).count == 5 }
            #expect(Self.sequence(world) == Array(1...5))
            try await world.simulate("bluez clear")
            try await until("the bridge gives up waiting") {
                !world.finals(topic + "/result").isEmpty && !world.isConnected("0001")
            }
            try world.observer.publish(topic + "/set", "connect")
            try await world.tagReturns(after: "Disconnect never answered")
            try await world.isOfUse()
        }
    }

    @Test("if they have arrived before the bridge handles SIGTERM")
    func beforeStop() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.settled()
            world.daemon.signal(SIGSTOP)
            try await world.simulate("gesture 0001 double_tap 20 1000")
            try await until("BlueZ has passed them on") { world.told("burst").count == 1 }
            world.daemon.signal(SIGTERM)
            world.daemon.signal(SIGCONT)
            try await until("goodbye") { world.observer.latest(World.bridge + "/state") == "offline" }
            #expect(Self.sequence(world) == Array(1...20))
        }
    }
}
