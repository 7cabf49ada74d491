import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A pending command ends once")
struct EndingTests {
    private static let result = "jacquard/tag/0001/led/result"

    /// Gives a tag that does not answer one command which is sent and two that wait behind it.
    @LoopActor
    private static func begin(_ world: World) async throws {
        try await world.connected()
        try await world.settled()
        try await world.simulate("fault 0001 hang")
        for number in 1...3 {
            try world.observer.publish("jacquard/tag/0001/led/set", #"{"id":"\#(number)","flash":1}"#)
        }
        try await until("all three are accepted") { world.results(result).count == 3 }
    }

    @LoopActor
    private static func expectOneEndEach(_ world: World, codes: Set<String>) async throws {
        try await until("three ends") { world.finals(result).count >= 3 }
        let ids = world.finals(result).compactMap { $0["id"] as? String }
        #expect(ids.sorted() == ["1", "2", "3"])
        #expect(
            world.finals(result).allSatisfy { codes.contains(World.code(of: $0) ?? "ok") }, "\(world.finals(result))")
    }

    @Test("when the bridge stops")
    func stop() async throws {
        try await inWorld { world in
            try await Self.begin(world)
            world.daemon.signal(SIGTERM)
            try await Self.expectOneEndEach(world, codes: ["link_lost", "tag_offline"])
            try await until("goodbye") { world.observer.latest(World.bridge + "/state") == "offline" }
        }
    }

    @Test("when it arrives while the bridge stops and the bridge acknowledges it", arguments: 1...3)
    func arrivesLate(run: Int) async throws {
        let folder = try ScratchFolder()
        // The broker gives up its rights before it opens its log.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        let log = folder.path + "/broker.log"
        try await inWorld(WorldPlan(broker: ["log_dest file \(log)", "log_type all"])) { world in
            try await world.connected()
            try await world.settled()
            var count = 0
            while world.daemon.isRunning {
                if count == 20 * run { world.daemon.signal(SIGTERM) }
                for _ in 0..<5 {
                    try world.observer.publish("jacquard/tag/0001/led/set", #"{"id":"\#(count)","flash":1}"#)
                    count += 1
                }
                try await world.observer.catchUp()
            }
            let acknowledged = try Self.acknowledgedCommands(in: String(contentsOfFile: log, encoding: .utf8))
            #expect(acknowledged.count >= 20 * run)
            @LoopActor func ids() -> [String] { world.finals(Self.result).compactMap { $0["id"] as? String } }
            // The broker has at most twenty messages on the way to the observer at a time.
            try await until("a result of each acknowledged command") {
                acknowledged.isSubset(of: ids().compactMap { Int($0) })
            }
            #expect(Set(ids()).count == ids().count)
        }
    }

    /// Returns the numbers of the commands that the bridge has acknowledged, from the broker's log.
    private nonisolated static func acknowledgedCommands(in log: String) -> Set<Int> {
        var (numbers, acknowledged, count): ([Substring: Int], Set<Int>, Int) = ([:], [], 0)
        for line in log.split(separator: "\n") {
            if let match = line.firstMatch(
                of: /Sending PUBLISH to jacquard-attic \(d0, q1, r0, m(\d+), 'jacquard\/tag\/0001\/led\/set'/)
            {
                numbers[match.1] = count
                count += 1
            } else if let match = line.firstMatch(of: /Received PUBACK from jacquard-attic \(Mid: (\d+)/),
                let number = numbers.removeValue(forKey: match.1)
            {
                acknowledged.insert(number)
            }
        }
        return acknowledged
    }

    @Test("when its tag is forgotten")
    func forget() async throws {
        try await inWorld { world in
            try await Self.begin(world)
            try await world.succeeds(World.bridge + "/request/forget", "0001")
            try await Self.expectOneEndEach(world, codes: ["link_lost", "unknown_tag", "tag_offline"])
        }
    }

    @Test("when Bluetooth is switched off; queued ones are executed when it is on again")
    func bluetoothOff() async throws {
        try await inWorld { world in
            try await Self.begin(world)
            try await world.simulate("adapter off")
            try await until("the end of what was sent") { !world.finals(Self.result).isEmpty }
            #expect(World.code(of: world.finals(Self.result)[0]) == "link_lost")
            try await world.simulate("fault 0001 clear")
            try await world.simulate("adapter on")
            try await Self.expectOneEndEach(world, codes: ["link_lost", "ok"])
            try await until("the report of the simulator") { world.told("led").count == 2 }
        }
    }

    @Test("when bluetoothd crashes")
    func bluezCrash() async throws {
        try await inWorld { world in
            try await Self.begin(world)
            try await world.simulate("fault 0001 clear")
            try await world.simulate("crash-bluez 200")
            try await Self.expectOneEndEach(world, codes: ["link_lost", "ok"])
            try await world.tagReturns(after: "bluetoothd crashed under commands")
            try await world.succeeds("jacquard/tag/0001/battery/get")
        }
    }

    @Test("when its tag is disconnected by the user; queued ones fail as not permitted")
    func hold() async throws {
        try await inWorld { world in
            try await Self.begin(world)
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            try await Self.expectOneEndEach(world, codes: ["link_lost", "not_permitted"])
            #expect(world.told("led").isEmpty)
        }
    }

    @Test("while the broker is away, with its result published later")
    func brokerAway() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("fault 0001 delay 5000 once")
            try world.observer.publish("jacquard/tag/0001/led/set", #"{"id":"1","flash":1}"#)
            try await until("it is accepted") { world.results(Self.result).count == 1 }
            try await world.stopBroker()
            try await until("the tag was told") { world.told("led").count == 1 }
            try await world.startBroker()
            try await until("the result") { world.finals(Self.result).count == 1 }
            #expect(world.finals(Self.result)[0]["status"] as? String == "ok")
            try await world.succeeds("jacquard/tag/0001/battery/get")
            #expect(world.finals(Self.result).count == 1)
        }
    }
}
