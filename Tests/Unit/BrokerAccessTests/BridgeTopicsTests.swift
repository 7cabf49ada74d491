import Bridge
import MQTTTypes
import Testing

@testable import BrokerAccess

@Suite("Topics of a client")
struct BridgeTopicsTests {
    private static let topics = BridgeTopics(base: "jacquard", instance: "attic")

    @Test(
        "a topic belongs to the bridge, to a tag, or to another program",
        arguments: [
            ("jacquard/bridge/attic/state", .bridge, "state"),
            ("jacquard/bridge/attic/response/pair", .bridge, "response/pair"),
            ("jacquard/tag/0001/gesture", .tag("0001"), "gesture"),
            ("jacquard/tag/0001/led/set", .tag("0001"), "led/set"),
            ("jacquard/tag/0001", nil, nil),
            ("jacquard/bridge/cellar/state", nil, nil),
            ("homeassistant/status", nil, nil),
        ] as [(String, TopicOwner?, String?)])
    func split(topic: String, owner: TopicOwner?, rest: String?) {
        let parts = Self.topics.split(topic)
        #expect(parts?.owner == owner)
        #expect(parts?.rest == rest)
    }

    @Test("the bridges of a base topic are listed with their states, without cleared ones")
    func bridges() {
        let messages = [("cellar", "online"), ("attic", "offline"), ("old", "")].map { name, state in
            MQTTMessage(topic: "jacquard/bridge/\(name)/state", payload: Array(state.utf8))
        }
        #expect(Self.topics.bridges(in: messages) == ["attic (offline)", "cellar (online)"])
    }

    @Test("each client has a response topic of its own")
    func answers() {
        #expect(Self.topics.answers(to: "a") == "jacquard/client/a/response")
        #expect(Self.topics.everythingOfClients == "jacquard/client/#")
    }
}
