import BrokerAccess
import HTTPServer
import JSON
import MQTTTypes
import Testing
import Time

@testable import Web

@Suite("Bridges that are online by a stored message")
struct PresenceCheckTests {
    /// A page's server on a connection of which it has not all stored messages, and what it does.
    private struct Transcript {
        var scene = Scene(.link, hasMetrics: true, hasStored: false)
        private var ids: [String: String] = [:]

        init(hasEcho: Bool = false) { scene.page.presence.connected(hasEcho: hasEcho) }

        /// A message as the page's service handles it; answers are not for browsers.
        mutating func receive(_ rest: String, _ text: String = "{}", isStored: Bool = false) -> [String] {
            let message = MQTTMessage(topic: "jacquard/\(rest)", payload: Array(text.utf8))
            var events: [MirrorEvent?] = []
            if !scene.page.presence.received(message, below: rest[...]) {
                events.append(
                    scene.page.received(
                        rest[...], topic: message.topic, payload: message.payload, isStored: isStored, at: scene.now))
            }
            events.append(scene.page.bridgeHeard(rest[...], isEmpty: text.isEmpty, isStored: isStored, at: scene.now))
            return events.compactMap { $0.map(Self.text) }
        }

        /// The requests after the stored messages.
        mutating func storedReceived() -> [String] {
            _ = scene.page.storedReceived()
            let requests = scene.page.presenceRequests(at: scene.now.instant)
            for request in requests { ids[request.bridge] = JSONValue(parsing: request.payload)?["id"]?.string }
            return requests.map(\.topic)
        }

        /// The document of a request to a bridge, and of its answer.
        func document(_ bridge: String) -> String { #"{"id":"\#(ids[bridge] ?? "")","status":"ok"}"# }

        /// The events after the wait for answers.
        mutating func end() -> [String] { scene.page.presenceEnded(at: scene.now).map(Self.text) }

        mutating func reconnect() {
            _ = scene.page.brokerChanged(isConnected: false, "away", at: scene.now)
            scene.page.presence.connected(hasEcho: false)
            _ = scene.page.brokerChanged(isConnected: true, "connected", at: scene.now)
        }

        /// A line such as `bridge/a/state online silent`.
        private static func text(_ event: MirrorEvent) -> String {
            let message = JSONValue(parsing: Array(event.json))
            let words = [String(event.topic.dropFirst(9)), message?["payload"]?.string ?? ""]
            return (words + (message?["silent"] == nil ? [] : ["silent"])).joined(separator: " ")
        }
    }

    private func stored(_ bridges: String..., hasEcho: Bool = false) -> Transcript {
        var transcript = Transcript(hasEcho: hasEcho)
        for bridge in bridges { _ = transcript.receive("bridge/\(bridge)/state", "online", isStored: true) }
        return transcript
    }

    @Test("are asked once, all at once, and are silent if they do not answer within three seconds")
    func silent() {
        var transcript = stored("a", "b")
        _ = transcript.receive("bridge/c/state", "offline", isStored: true)
        #expect(transcript.scene.page.presence.deadline == nil)
        #expect(transcript.storedReceived() == ["a", "b"].map { "jacquard/bridge/\($0)/request/health" })
        #expect(transcript.scene.page.presence.deadline == transcript.scene.now.instant + .seconds(3))
        for bridge in ["a", "b"] { transcript.scene.page.presence.taken(bridge) }
        #expect(transcript.receive("bridge/b/response/health", transcript.document("b")).isEmpty)
        #expect(transcript.end() == ["bridge/a/state online silent"])
        #expect(transcript.scene.page.presence.deadline == nil)
        #expect(transcript.storedReceived().isEmpty)
    }

    @Test("have their words in the state, also for a browser that connects later")
    func words() {
        var transcript = stored("a")
        _ = transcript.storedReceived()
        transcript.scene.page.presence.taken("a")
        _ = transcript.end()
        let message = transcript.scene.page.mirror.facts(after: nil).first.flatMap { JSONValue(parsing: $0.json) }
        #expect(message?["silent"]?["state"]?.string == SilentBridge.state)
        #expect(message?["silent"]?["remedies"]?.elements?.compactMap(\.string) == SilentBridge.remedies)
        #expect(transcript.scene.answer(.get("/metrics")) == "503 unavailable")
    }

    @Test(
        "are online again with their next message",
        arguments: ["state online", "health {}", "response/led {}", "response/metrics {}", "event {}"])
    func back(message: String) {
        var transcript = stored("a")
        _ = transcript.storedReceived()
        transcript.scene.page.presence.taken("a")
        _ = transcript.end()
        let parts = message.split(separator: " ").map(String.init)
        #expect(transcript.receive("bridge/a/\(parts[0])", parts[1]).last == "bridge/a/state online")
        #expect(transcript.scene.answer(.get("/metrics")) == "prometheus of a")
        #expect(transcript.end().isEmpty)
    }

    @Test("are online again with a late answer, which is not for browsers")
    func late() {
        var transcript = stored("a")
        _ = transcript.storedReceived()
        transcript.scene.page.presence.taken("a")
        _ = transcript.end()
        let answer = transcript.receive("bridge/a/response/health", transcript.document("a"))
        #expect(answer == ["bridge/a/state online"])
    }

    @Test("stay silent after messages of others")
    func others() {
        var transcript = stored("a")
        _ = transcript.receive("bridge/a/health", isStored: true)
        _ = transcript.storedReceived()
        transcript.scene.page.presence.taken("a")
        _ = transcript.end()
        #expect(transcript.receive("tag/0001/gesture") == ["tag/0001/gesture {}"])
        #expect(transcript.receive("bridge/a/request/health").isEmpty)
        // clear.
        #expect(transcript.receive("bridge/a/health", "") == ["bridge/a/health "])
        #expect(transcript.receive("bridge/b/event") == ["bridge/b/event {}"])
        #expect(transcript.scene.page.mirror.isSilent("a"))
    }

    @Test("are offline with the next message that says so, and then online without a question")
    func restarted() {
        var transcript = stored("a")
        _ = transcript.storedReceived()
        transcript.scene.page.presence.taken("a")
        _ = transcript.end()
        #expect(transcript.receive("bridge/a/state", "offline") == ["bridge/a/state offline"])
        #expect(transcript.receive("bridge/a/state", "online") == ["bridge/a/state online"])
        #expect(transcript.storedReceived().isEmpty)
    }

    @Test("are not asked after a message of their own on this connection, which the broker has not stored")
    func live() {
        var transcript = stored("a")
        _ = transcript.receive("bridge/a/log")
        #expect(transcript.storedReceived().isEmpty)
        #expect(transcript.scene.page.presence.deadline == nil)
        // A new connection.
        transcript.reconnect()
        _ = transcript.receive("bridge/a/state", "online", isStored: true)
        #expect(transcript.storedReceived() == ["jacquard/bridge/a/request/health"])
    }

    @Test("are asked on each connection, stay silent until they publish, and not without a connection")
    func reconnected() {
        var transcript = stored("a")
        _ = transcript.storedReceived()
        transcript.scene.page.presence.taken("a")
        _ = transcript.end()
        transcript.reconnect()
        #expect(transcript.receive("bridge/a/state", "online", isStored: true).isEmpty)
        #expect(transcript.scene.page.mirror.isSilent("a"))
        #expect(transcript.storedReceived().count == 1)
        _ = transcript.scene.page.brokerChanged(isConnected: false, "away", at: transcript.scene.now)
        #expect(transcript.scene.page.presence.deadline == nil)
    }

    @Test("stay online if the broker has not taken the request, refuses it, or does not return it with MQTT 3.1.1")
    func notDelivered() {
        var transcript = stored("a", "b")
        _ = transcript.storedReceived()
        transcript.scene.page.presence.refused("a")
        #expect(transcript.end().isEmpty)
        var old = stored("a", "b", hasEcho: true)
        #expect(old.scene.page.presence.filters == ["jacquard/bridge/+/request/health"])
        _ = old.storedReceived()
        for bridge in ["a", "b"] { old.scene.page.presence.taken(bridge) }
        #expect(old.receive("bridge/b/request/health", old.document("b")).isEmpty)
        #expect(old.end() == ["bridge/b/state online silent"])
    }

    @Test("are at most 64")
    func bound() {
        var transcript = Transcript()
        for number in 1...100 { _ = transcript.receive("bridge/\(number)/state", "online", isStored: true) }
        #expect(transcript.storedReceived().count == PresenceCheck.mostBridges)
    }
}
