import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("With fleet.watch, a bridge")
struct FleetWatchTests {
    private static let state = "jacquard/bridge/cellar/state"
    private static let availability = "jacquard/tag/0002/availability"
    private static let plan = WorldPlan(tags: 2, tagList: "  - serial: 0001", settings: "fleet:\n  watch: true")

    @Test("that dies together with its node of the broker is offline at the other node within 45 s, until it returns")
    func killed() async throws {
        try await inWorld(Self.plan) { world in
            let node = try await world.joinedBroker()
            let cellar = try world.watchedBridge(at: node.port)
            try await watched(in: world)
            let watch = Stopwatch()
            // The broker first: otherwise it publishes the will.
            node.daemon.signal(SIGKILL)
            cellar.signal(SIGKILL)
            try await offline(in: world, by: watch)
            #expect(world.isConnected("0001"))
            try await until("their end") { !cellar.isRunning && !node.daemon.isRunning }
            let next = try await world.joinedBroker(at: node.place)
            let sinceReturn = Stopwatch()
            let another = try world.watchedBridge(at: next.port)
            try await online(in: world, by: sinceReturn)
            another.signal(SIGTERM)
            try await until("the end of the other one") { !another.isRunning }
            next.daemon.signal(SIGTERM)
        }
    }

    @Test("that stands still is offline within 45 s, and publishes its facts again when it goes on")
    func suspended() async throws {
        try await inWorld(Self.plan) { world in
            let cellar = try world.watchedBridge(at: world.broker.port)
            try await watched(in: world)
            let watch = Stopwatch()
            cellar.signal(SIGSTOP)
            defer { cellar.signal(SIGCONT) }
            try await offline(in: world, by: watch)
            let sinceReturn = Stopwatch()
            cellar.signal(SIGCONT)
            try await online(in: world, by: sinceReturn)
            // A clean stop is no silence.
            cellar.signal(SIGTERM)
            try await until("the end of the other one") { !cellar.isRunning }
            #expect(world.events("bridge_silent").count == 1)
        }
    }

    /// Waits until the bridges have received the beats of each other, and the pause of the start is over.
    @LoopActor
    private func watched(in world: World) async throws {
        try await world.connected(1...2)
        try await until("the beats of the first 30 s", within: .seconds(60)) {
            ["attic", "cellar"].allSatisfy { world.observer.payloads(of: "jacquard/bridge/\($0)/beat").count >= 4 }
        }
        #expect(world.observer.latest(Self.state) == "online")
        #expect(world.events("bridge_silent").isEmpty)
    }

    @LoopActor
    private func offline(in world: World, by watch: Stopwatch) async throws {
        try await until("it is offline", within: .seconds(60)) { world.observer.latest(Self.state) == "offline" }
        #expect(watch.isWithin(.seconds(45)))
        try await until("its tag, too") { world.observer.latest(Self.availability) == "offline" }
        try await until("the event") { world.events("bridge_silent").count == 1 }
    }

    @LoopActor
    private func online(in world: World, by watch: Stopwatch) async throws {
        try await until("it is online again") {
            world.observer.latest(Self.state) == "online" && world.observer.latest(Self.availability) == "online"
        }
        #expect(watch.isWithin(.seconds(10)))
    }
}

extension World {
    /// Starts a broker that is joined with the first one as in `config/mosquitto/bridge.conf`.
    fileprivate func joinedBroker(at place: ReservedPort? = nil) async throws -> PrivateBroker {
        try await PrivateBroker(
            options: [
                "connection other", "address 127.0.0.1:\(broker.port)", "topic jacquard/# both 1",
                "bridge_protocol_version mqttv311", "try_private true", "cleansession false", "restart_timeout 1 2",
            ], at: place)
    }

    /// Starts a bridge called `cellar` with the tag 0002.
    fileprivate func watchedBridge(at port: UInt16) throws -> Program {
        let file = try folder.write(
            "cellar.yaml",
            "instance: cellar\nmqtt:\n  port: \(port)\nfleet:\n  watch: true\ntags:\n  - serial: '0002'\n")
        return try Program(
            Program.buildFolder + "/jacquard2mqtt",
            ["run", "--config", file, "--state", folder.path + "/cellar"], environment: environment)
    }
}
