import Bridge
import BrokerAccess
import Configuration
import EventLoop
import HomeAssistant
import JSON
import JacquardProtocol
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import CommandLine

@Suite("clear")
struct ClearTests {
    private static let facts: [FakeBridge.Publication] = [
        ("bridge/attic/state", "offline"), ("bridge/attic/info", #"{"tags":["0001"]}"#),
        ("tag/0001/info", #"{"bridge":"attic"}"#), ("tag/0001/battery/level", "87"),
        ("tag/0002/info", #"{"bridge":"cellar"}"#), ("bridge/cellar/state", "online"),
        ("../homeassistant/device/jacquard_tag_0001/config", #"{"origin":{"name":"jacquard2mqtt"}}"#),
        ("../homeassistant/light/jacquard_tag_0001/led/config", #"{"origin":{"name":"jacquard2mqtt"}}"#),
        ("../homeassistant/device/jacquard_bridge_attic/config", #"{"origin":{"name":"jacquard2mqtt"}}"#),
        ("../homeassistant/device/jacquard_tag_0002/config", #"{"origin":{"name":"jacquard2mqtt"}}"#),
        ("../homeassistant/device/jacquard_tag_0001/other", #"{"origin":{"name":"jacquard2mqtt"}}"#),
    ]

    @Test("removes the retained topics of the bridge, its tags and their devices only")
    func clear() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker, facts: Self.facts)
            await bridge.stop()
            let written = Written()
            let code = await ClientAction.perform(ClearCommand(), .test(broker.port, written, isJSON: true))
            #expect(code == .done)
            #expect(
                written.document["topics"]?.elements?.compactMap(\.string).sorted() == [
                    "homeassistant/device/jacquard_bridge_attic/config",
                    "homeassistant/device/jacquard_tag_0001/config",
                    "homeassistant/light/jacquard_tag_0001/led/config", "jacquard/bridge/attic/info",
                    "jacquard/bridge/attic/state", "jacquard/tag/0001/battery/level", "jacquard/tag/0001/info",
                ])
            let again = Written()
            #expect(await ClientAction.perform(ClearCommand(), .test(broker.port, again)) == .done)
            #expect(
                again.lines(.standardOutput) == ["The broker sends this user no retained message of the bridge attic"])
        }
    }

    @Test("keeps the devices of a bridge with the same name below another base topic")
    func otherBase() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let origin = #""origin":{"name":"jacquard2mqtt"}"#
            let others: [FakeBridge.Publication] = [
                (
                    "../homeassistant/device/jacquard_tag_0001/config",
                    #"{\#(origin),"components":{"led":{"command_topic":"home/tag/0001/led/set"}}}"#
                ),
                (
                    "../homeassistant/light/jacquard_bridge_attic/led/config",
                    #"{\#(origin),"availability":[{"topic":"home/bridge/attic/state"}]}"#
                ),
                (
                    "../homeassistant/device/jacquard_bridge_attic/config",
                    #"{\#(origin),"components":{"pair":{"command_topic":"jacquard/bridge/attic/request/pair"}}}"#
                ),
            ]
            let bridge = try await FakeBridge(broker, facts: Array(Self.facts.prefix(2)) + others)
            await bridge.stop()
            let written = Written()
            #expect(await ClientAction.perform(ClearCommand(), .test(broker.port, written, isJSON: true)) == .done)
            #expect(
                written.document["topics"]?.elements?.compactMap(\.string).sorted() == [
                    "homeassistant/device/jacquard_bridge_attic/config", "jacquard/bridge/attic/info",
                    "jacquard/bridge/attic/state",
                ])
        }
    }

    @Test("refuses while the bridge is online")
    func online() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker)
            let written = Written()
            #expect(await ClientAction.perform(ClearCommand(), .test(broker.port, written, isJSON: true)) == .failed)
            #expect(written.document["error"]?["code"] == "bridge_online")
            await bridge.stop()
        }
    }

    @Test("clears a bridge that is online by its last message and does not answer")
    func silent() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let facts = [("bridge/attic/state", "online")] + Self.facts.dropFirst()
            let bridge = try await FakeBridge(broker, facts: facts)
            await bridge.stop()
            let written = Written()
            #expect(await ClientAction.perform(ClearCommand(), .test(broker.port, written, isJSON: true)) == .done)
            let topics = written.document["topics"]?.elements?.compactMap(\.string) ?? []
            #expect(topics.contains("jacquard/bridge/attic/state") && !topics.contains("jacquard/tag/0002/info"))
        }
    }

    @Test(
        "removes every retained topic that the table has, also of features, and of tags that only the configuration names"
    )
    func everyName() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let ofBridge = BridgeTopics(base: "jacquard", instance: "attic").factsOfBridge
            let ofTag = BridgeTopics(base: "jacquard", instance: "attic").facts(of: "0009")
            #expect(["found", "pairing", "tags"].allSatisfy { name in ofBridge.contains { $0.hasSuffix("/\(name)") } })
            #expect(
                ["modules", "presence", "radios"].allSatisfy { name in ofTag.contains { $0.hasSuffix("/\(name)") } })
            // What an earlier run has left: nothing names the tag any more.
            let left = (ofBridge + ofTag).filter { !$0.hasSuffix("/info") }
            let facts = left.map { topic in
                (String(topic.dropFirst("jacquard/".count)), topic.hasSuffix("/state") ? "offline" : "1")
            }
            let bridge = try await FakeBridge(broker, facts: facts)
            await bridge.stop()
            let written = Written()
            var context = ClientContext.test(broker.port, written, isJSON: true)
            context.configuration.tags = [TagSettings(serial: "0009", id: "0009")]
            #expect(await ClientAction.perform(ClearCommand(), context) == .done)
            #expect(written.document["topics"]?.elements?.compactMap(\.string).sorted() == left.sorted())
        }
    }

    @Test("keeps a tag of the configuration that another bridge has, and its device")
    func foreignTag() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker, facts: Self.facts)
            await bridge.stop()
            let written = Written()
            var context = ClientContext.test(broker.port, written, isJSON: true)
            context.configuration.tags = [TagSettings(serial: "0002", id: "0002")]
            #expect(await ClientAction.perform(ClearCommand(), context) == .done)
            let topics = written.document["topics"]?.elements?.compactMap(\.string) ?? []
            #expect(topics.count == 7 && !topics.contains { $0.contains("0002") }, "\(topics)")
        }
    }

    @Test("looks for announcements by name, in both forms")
    func names() {
        let names = DiscoveryFootprint(prefix: "ha", instance: "attic", tags: ["0001"]).names(.complete)
        for topic in [
            "ha/device/jacquard_tag_0001/config", "ha/device/jacquard_bridge_attic/config",
            "ha/light/jacquard_tag_0001/led/config", "ha/sensor/jacquard_tag_0001/battery/config",
        ] { #expect(names.contains(topic), "\(topic)") }
        #expect(!names.contains { $0.contains("+") } && names.count < 400, "\(names.count)")
    }
}
