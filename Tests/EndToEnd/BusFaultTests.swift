import EventLoop
import Foundation
import TestSupport
import Testing
import Time

@Suite("The system bus")
struct BusFaultTests {
    @Test("that ends is reconnected, and BlueZ is found on the new one")
    func gone() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            try await inWorld(WorldPlan(options: ["--bus", bus.address])) { world in
                try await world.connected()
                bus.daemon.signal(SIGKILL)
                try await until("the simulator has lost it too") { !world.simulator.isRunning }
                try await world.tagIsMissed()
                try await until("the problem") { world.problems.contains("no_adapter") }
                #expect(world.daemon.isRunning)
                #expect(world.observer.latest(World.bridge + "/state") == "online")
                let next = try await bus.startAgain()
                defer { next.stop() }
                try await world.restartSimulator()
                try await world.tagReturns(after: "system bus gone and back")
                try await world.isOfUse()
            }
        }
    }

    @Test("that is missing at startup is waited for")
    func missing() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            try await inWorld(WorldPlan(options: ["--bus", bus.address])) { world in
                world.daemon.signal(SIGTERM)
                try await until("its end") { !world.daemon.isRunning }
                bus.daemon.signal(SIGKILL)
                try await until("the simulator's end") { !world.simulator.isRunning }
                world.observer.forget()
                try world.restartDaemon()
                try await until("the problem") { world.problems.contains("no_adapter") }
                try await world.logs("cannot reach the system bus")
                let next = try await bus.startAgain()
                defer { next.stop() }
                try await world.restartSimulator()
                try await world.tagReturns(after: "no system bus at the start")
            }
        }
    }

    @Test("that hangs and accepts no connections delays neither the broker nor the end of the process")
    func hanging() async throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/bus"
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer {
            close(listener)
            close(client)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isFull = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                let length = socklen_t(MemoryLayout<sockaddr_un>.size)
                // One connection fills the backlog.
                return bind(listener, $0, length) == 0 && listen(listener, 0) == 0 && connect(client, $0, length) == 0
            }
        }
        #expect(isFull)
        try await inWorld { world in
            try await world.stopDaemon()
            try world.restartDaemon(with: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)"])
            try await until("online") { world.observer.latest(World.bridge + "/state") == "online" }
            let start = Instant.now
            try await world.stopDaemon()
            // Connecting to the bus alone would take 10 s.
            #expect(.now - start < .seconds(6))
            #expect(world.daemon.exitStatus == 0)
        }
    }

    @Test("with a policy that denies access to BlueZ is a problem with a remedy, and the adapter's state is published")
    func refused() async throws {
        try await onLoop {
            let bus = try await PrivateBus(rules: #"<deny send_destination="org.bluez"/>"#)
            var plan = WorldPlan(options: ["--bus", bus.address])
            plan.isBridgeExpected = false
            try await inWorld(plan) { world in
                try await until("the problem") { world.problems == ["not_permitted"] }
                let health = world.observer.document(World.bridge + "/health")
                #expect(health["status"] as? String == "failed")
                let texts = (health["problems"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String }
                #expect(texts.allSatisfy { $0.contains("sudo adduser \"$USER\" bluetooth") }, "\(texts)")
                try await until("the adapter") {
                    world.observer.latest(World.bridge + "/adapter")?.contains("unauthorized") == true
                }
            }
        }
    }
}
