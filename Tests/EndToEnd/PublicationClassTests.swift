import EventLoop
import MQTTTypes
import TestSupport
import Testing

@Suite("Quality of service and retain flag")
struct PublicationClassTests {
    private struct Class: Hashable {
        let isRetained: Bool
        let qos: MQTTQoS
    }

    private static let fact = Class(isRetained: true, qos: .atLeastOnce)
    private static let latest = Class(isRetained: true, qos: .atMostOnce)
    private static let event = Class(isRetained: false, qos: .atLeastOnce)
    private static let stream = Class(isRetained: false, qos: .atMostOnce)

    /// The class of each topic below `jacquard/tag/0001/` and of the bridge's own.
    private static let tag: [String: Class] = [
        "availability": fact, "connection": fact, "battery": fact, "battery/level": fact,
        "battery/forecast": fact, "gear": fact, "info": fact,
        "touch_mode": fact, "led": fact, "stats": fact, "rssi": latest, "gesture": event,
        "led/result": event,
        "touch_mode/result": event, "touch": stream,
    ]
    private static let bridge: [String: Class] = [
        "state": fact, "info": fact, "health": fact, "adapter": fact, "scan": fact, "tags": fact,
        "pairing": fact, "found": fact, "response/scan": event, "advertisement": stream, "event": event,
    ]

    @Test("of every topic are those of the contract")
    func classes() async throws {
        try await inWorld(WorldPlan(tags: 2, tagList: "  - serial: 0001")) { world in
            try await world.connected()
            try await world.simulate("gesture 0001 cover")
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            try await world.succeeds("jacquard/tag/0001/touch_mode/set", "continuous")
            try await world.simulate("touch 0001 9,0,1,2,3,4,5,6,7,8,9,10,11")
            try await world.request("scan", #"{"duration_s":5}"#)
            try await until("a touch and an advertisement") {
                let seen = Set(world.observer.messages.map(\.topic))
                return seen.isSuperset(of: ["jacquard/tag/0001/touch", World.bridge + "/advertisement"])
            }
            try await world.simulate("adapter off")
            let topics =
                Self.tag.keys.map { "jacquard/tag/0001/" + $0 } + Self.bridge.keys.map { World.bridge + "/" + $0 }
            try await until("a message on every topic") {
                let seen = Set(world.observer.messages.map(\.topic))
                return Set(topics).isSubset(of: seen) && seen.contains { $0.hasPrefix("homeassistant/") }
            }
            var found: [String: Set<Class>] = [:]
            for message in world.observer.messages {
                found[message.topic, default: []].insert(Class(isRetained: message.isRetained, qos: message.qos))
            }
            for (topic, expected) in Self.tag { #expect(found["jacquard/tag/0001/" + topic] == [expected], "\(topic)") }
            for (topic, expected) in Self.bridge {
                #expect(found[World.bridge + "/" + topic] == [expected], "\(topic)")
            }
            let discovery = found.filter { $0.key.hasPrefix("homeassistant/") }
            #expect(discovery.values.allSatisfy { $0 == [Self.fact] })
            // Of this bridge and its tag there is nothing else, but for facts of features that are there from the start.
            let others = found.filter { topic, _ in
                topic.hasPrefix("jacquard/") && !topics.contains(topic) && !topic.hasSuffix("/set")
                    && !topic.contains("/request/")
            }
            #expect(others.allSatisfy { $0.key.hasPrefix("jacquard/tag/0001/") && $0.value == [Self.fact] })
        }
    }
}
