import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A tag that misbehaves")
struct HostileTagTests {
    /// The fault in a tag's answer to a battery request, and the fate of the command.
    static let faults: [(fault: String, status: String, code: String?)] = [
        ("delay 700", "ok", nil), ("delay 8500", "error", "timeout"), ("double", "ok", nil),
        ("wrong-id", "error", "timeout"), ("malformed", "error", "timeout"), ("truncated", "error", "tag_error"),
        ("no-body", "error", "tag_error"), ("drop-response", "error", "timeout"), ("hang", "error", "timeout"),
        ("lost-fragment", "error", "timeout"), ("status 2", "error", "tag_error"), ("status 255", "error", "tag_error"),
    ]

    @Test("ends each command once, and the next one gets its own response")
    func faults() async throws {
        try await inWorld(tags: Self.faults.count) { world in
            let numbers = 1...Self.faults.count
            try await world.connected(numbers)
            for number in numbers {
                let tag = "jacquard/tag/\(World.serial(number))"
                try await world.succeeds(
                    tag + "/config/set", #"{"key":"k","type":"string","value":"mine \#(number)"}"#)
                try await world.simulate("fault \(World.serial(number)) \(Self.faults[number - 1].fault) once")
                try world.observer.publish(tag + "/battery/get", "")
                try world.observer.publish(tag + "/config/get", #"{"key":"k"}"#)
            }
            // A late answer comes after the next command has begun.
            try await until("the end of all commands", within: .seconds(30)) {
                numbers.allSatisfy { number in
                    let tag = "jacquard/tag/\(World.serial(number))"
                    return !world.finals(tag + "/battery/result").isEmpty
                        && world.finals(tag + "/config/result").count == 2
                }
            }
            for number in numbers {
                try await Self.check(world, number)
            }
        }
    }

    @LoopActor
    private static func check(_ world: World, _ number: Int) async throws {
        let (fault, status, code) = faults[number - 1]
        let tag = "jacquard/tag/\(World.serial(number))"
        let battery = world.finals(tag + "/battery/result")
        #expect(battery.count == 1, "\(fault)")
        #expect(battery[0]["status"] as? String == status, "\(fault): \(battery[0])")
        #expect(World.code(of: battery[0]) == code, "\(fault)")
        let value = (world.finals(tag + "/config/result")[1]["data"] as? [String: Any])?["value"]
        #expect(value as? String == "mine \(number)", "\(fault)")
        let level = try await world.succeeds(tag + "/battery/get")["level"]
        #expect(level is Int, "\(fault)")
        #expect(world.finals(tag + "/battery/result").count == 2, "\(fault)")
        #expect(world.told("disconnected").isEmpty, "\(fault)")
    }

    /// Late, twice, with a wrong id, with rubbish, not at all; and what becomes of the command.
    private static let ways: [(fault: String, code: String?)] = [
        ("delay 8500", "timeout"), ("double", nil), ("wrong-id", "timeout"), ("malformed", "timeout"),
        ("hang", "timeout"),
    ]

    @Test("does not delay nineteen others, which respond within half a second")
    func neighbours() async throws {
        let hostile = 1...Self.ways.count
        let others = (hostile.upperBound + 1)...(hostile.upperBound + 19)
        try await inWorld(tags: others.upperBound) { world in
            try await world.connected(1...others.upperBound)
            for number in hostile {
                try await world.simulate("fault \(World.serial(number)) \(Self.ways[number - 1].fault) once")
            }
            for (number, id) in hostile.flatMap({ [($0, "first"), ($0, "next")] }) {
                try world.observer.publish("jacquard/tag/\(World.serial(number))/battery/get", #"{"id":"\#(id)"}"#)
            }
            for number in others {
                try world.observer.publish("jacquard/tag/\(World.serial(number))/led/set", "flash")
                try world.observer.publish("jacquard/tag/\(World.serial(number))/battery/get", "")
            }
            try await until("nineteen answers") { others.allSatisfy { !world.batteryResults($0).isEmpty } }
            #expect(world.batteryResults(hostile.upperBound).isEmpty)
            for number in others {
                let led = try #require(world.finals("jacquard/tag/\(World.serial(number))/led/result").first)
                for result in [led] + world.batteryResults(number) {
                    #expect(result["status"] as? String == "ok")
                    #expect(try #require(result["took_ms"] as? Int) < 500)
                }
            }
            try await until("all ends", within: .seconds(30)) {
                hostile.allSatisfy { world.batteryResults($0).count >= 2 }
            }
            for number in hostile {
                try await world.settled(World.serial(number))
                let results = world.batteryResults(number)
                #expect(results.prefix(2).map { $0["id"] as? String } == ["first", "next"])
                #expect(results.map { World.code(of: $0) } == [Self.ways[number - 1].code, nil, nil])
            }
        }
    }

    @Test("causes an error for a pattern that it refused")
    func refusedPattern() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.settled()
            try await world.simulate("fault 0001 status 6 once")
            let result = try await world.command("jacquard/tag/0001/led/set", #"{"state":"ON"}"#)
            #expect(World.code(of: result) == "tag_error")
            #expect(world.observer.document("jacquard/tag/0001/led")["state"] as? String == "OFF")
            #expect(world.told("led").isEmpty)
        }
    }

    @Test("loses its link during a command, which fails with link_lost; the next one is executed")
    func linkLost() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("fault 0001 hang once")
            try world.observer.publish("jacquard/tag/0001/led/set", "flash")
            try await until("the command is under way") { !world.results("jacquard/tag/0001/led/result").isEmpty }
            try await world.simulate("out-of-range 0001")
            try await until("its end") { !world.finals("jacquard/tag/0001/led/result").isEmpty }
            #expect(World.code(of: world.finals("jacquard/tag/0001/led/result")[0]) == "link_lost")
            try await world.simulate("in-range 0001")
            try await world.tagReturns(after: "link lost under a command")
            try await world.succeeds("jacquard/tag/0001/led/set", #"{"flash":1,"ttl_ms":20000}"#)
            // What remained of the first flash was set again on the new link, because its response was lost.
            try await until("the report of the simulator") {
                world.told("led").count { $0["duration_ms"] as? Int == 1_000 } == 1
            }
        }
    }

    @Test("notifies what no feature knows, and nothing follows; an unreadable packet counts as lost")
    func unknownNotifications() async throws {
        try await inWorld { world in
            try await world.connected(1...1)
            // A body with the number 130, an error of a motion sensor that was never used, and bytes that are no message.
            for packet in ["0800101e92080208 01", "08001010aa070410091800", "0800ff"] {
                try await world.simulate("notify \(World.serial(1)) \(packet.filter { $0 != " " })")
            }
            try await world.simulate("gesture \(World.serial(1)) cover")
            let tag = "jacquard/tag/\(World.serial(1))"
            try await until("the gesture, and the lost packet in the statistics") {
                world.observer.payloads(of: tag + "/gesture").count == 1
                    && world.observer.payloads(of: tag + "/stats").last?.contains(#""lost_fragments":1,"#) == true
            }
            #expect(world.observer.payloads(of: tag + "/imu").isEmpty)
            #expect(world.observer.payloads(of: tag + "/availability").last == "online")
        }
    }
}

extension World {
    /// The final results of a tag's `battery/get`.
    fileprivate func batteryResults(_ number: Int) -> [[String: Any]] {
        finals("jacquard/tag/\(Self.serial(number))/battery/result")
    }
}
