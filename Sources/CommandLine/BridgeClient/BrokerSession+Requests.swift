import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import MQTT
import MQTTTypes
import Terminal
import Text
import Time

extension BrokerSession {
    /// Checks that the configured bridge is online, by its retained state.
    ///
    /// - Parameter filters: further subscriptions to make at the same time.
    /// - Returns: all messages that were received meanwhile.
    /// - Throws: `noConnection`, with a code that says what is missing.
    @discardableResult
    func expectBridge(_ filters: [String] = []) async throws(ClientFailure) -> [MQTTMessage] {
        let messages = try await snapshot(of: [topics.state, topics.stateOfEveryBridge] + filters)
        switch messages.last(where: { $0.topic == topics.state }).map({ String(decoding: $0.payload, as: UTF8.self) }) {
        case "online": return messages
        case nil, "": throw .bridgeUnknown(topics.instance, others: topics.bridges(in: messages))
        default: throw .bridgeOffline(topics.instance)
        }
    }

    /// The same, and that the bridge answers, for a command that does not begin with a request to it.
    ///
    /// A user who may not ask has to do with the last message.
    func expectAnsweringBridge() async throws(ClientFailure) {
        try await expectBridge()
        guard try await presence() == .silent else { return }
        throw .silent(topics.instance, topics, within: SilentBridge.patience)
    }

    /// Whether a message says that the configured bridge is offline.
    func isOffline(_ message: MQTTMessage) -> Bool {
        message.topic == topics.state && message.payload.elementsEqual("offline".utf8)
    }

    /// Sends a request to the bridge and waits for the result.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - progress: shows what the command waits for.
    ///   - announce: called after the request was sent; nil: the progress shows that the command waits.
    ///   - observe: receives all messages that arrive meanwhile.
    /// - Returns: the document of the result; its status is `ok`.
    /// - Throws: the error of the result, or `noConnection`.
    func ask(
        _ request: ClientRequest, _ progress: Progress, announce: (() -> Void)? = nil,
        observe: (MQTTMessage) -> Void = { _ in }
    ) async throws(ClientFailure) -> JSONValue {
        defer { progress.end() }
        progress.say("looking for the bridge \(topics.instance)")
        try await expectBridge([request.resultTopic, answers, topics.event])
        let exchange = BridgeExchange(request: request, topics: topics, answers: answers)
        let ticket = publish(request.topic, request.payload.text, correlation: request.id)
        if let announce {
            // The previous step is over; its delayed line would be misleading.
            progress.end()
            announce()
        } else {
            progress.say("waiting for \(request.waitsFor)")
        }
        var limit = request.firstAnswer
        var deadline = Instant.now + limit
        while let signal = await next(until: deadline) {
            guard case .message(let message) = signal else {
                try check(signal, ticket, of: request)
                continue
            }
            observe(message)
            switch exchange.received(message) {
            case .none: break
            case .accepted:
                limit = request.patience
                deadline = Instant.now + limit
            case .stage(let text): progress.say(text)
            case .done(let result): return result
            case .failed(let failure): throw failure
            }
        }
        throw try await silence(request, within: limit)
    }

    /// Looks for the bridge to which the request went: that of a tag may be another one than that of the configuration.
    ///
    /// - Returns: the failure of a request without an answer.
    private func silence(_ request: ClientRequest, within limit: Duration) async throws(ClientFailure) -> ClientFailure
    {
        guard case .tag(let id)? = topics.split(request.topic)?.owner else {
            return .silent(topics.instance, topics, within: limit)
        }
        let messages = try await snapshot(of: [topics.infoOfEveryBridge, topics.stateOfEveryBridge])
        let directory = FleetDirectory(messages, topics)
        let bridge = directory.bridge(of: id) ?? topics.instance
        let isOnline = bridge == topics.instance || directory.isOnline(bridge)
        return isOnline ? .silent(bridge, topics, within: limit) : .bridgeOffline(bridge)
    }

    private func check(_ signal: Signal, _ ticket: UInt64, of request: ClientRequest) throws(ClientFailure) {
        switch signal {
        case .refused(ticket, let error): throw .forbidden(request.topic, error.code.name, AccessTable(topics))
        case .lost(let error): throw .lost(error.text)
        case .interrupted: throw .interrupted
        case .message, .connected, .taken, .refused: break
        }
    }
}

extension ClientFailure {
    /// The bridge is stopped, or has no connection to the broker.
    static func bridgeOffline(_ instance: String) -> ClientFailure {
        ClientFailure(
            exitCode: .noConnection, code: "bridge_offline",
            text: "The broker answers, but the bridge \"\(instance)\" is offline",
            hint: "start it: sudo systemctl start jacquard2mqtt, or jacquard2mqtt run")
    }

    /// The broker has no state of a bridge with this name.
    ///
    /// - Parameters:
    ///   - instance: the name in the configuration.
    ///   - others: the bridges that the broker knows.
    /// - Returns: the failure.
    static func bridgeUnknown(_ instance: String, others: [String] = []) -> ClientFailure {
        guard !others.isEmpty else {
            return ClientFailure(
                exitCode: .noConnection, code: "bridge_unknown",
                text: "The broker answers, but there is no bridge \"\(instance)\", or this user may not read its state",
                hint:
                    "start it with jacquard2mqtt run, check instance and mqtt.base_topic in the configuration, or log in "
                    + "as a user with another role than replay")
        }
        return ClientFailure(
            exitCode: .noConnection, code: "bridge_unknown",
            text:
                "The broker answers, but there is no bridge \"\(instance)\"; there is \(others.joined(separator: ", "))",
            hint: "set instance in the configuration to the name of the bridge that you mean")
    }

    /// No bridge, or not the selected one, has a tag with this ID.
    ///
    /// - Parameters:
    ///   - id: what the user typed.
    ///   - known: the tags of the bridge or bridges.
    ///   - overview: what the bridge receives; nil if it does not answer this user.
    /// - Returns: the failure, in the bridge's words.
    static func unknownTag(_ id: String, known: [String], _ overview: TagOverview?) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "unknown_tag",
            text: SerialLikeness.unknownTag(id, known: known, received: overview?.strangers ?? []),
            hint: "jacquard2mqtt status")
    }

    /// The bridge is online by its last message, but does not answer.
    ///
    /// - Parameters:
    ///   - instance: its name.
    ///   - topics: those of the configured bridge, which may be another one.
    ///   - limit: how long the command has waited.
    /// - Returns: the failure.
    static func silent(_ instance: String, _ topics: BridgeTopics, within limit: Duration) -> ClientFailure {
        let other = instance == topics.instance ? "" : "it has the tag: JACQUARD2MQTT_INSTANCE=\(instance) "
        return ClientFailure(
            exitCode: .noConnection, code: "no_answer",
            text: "The bridge \"\(instance)\" is \(SilentBridge.state): it has not answered within "
                + "\(limit.components.seconds) s",
            hint: other + "jacquard2mqtt doctor")
    }

    /// The broker's access control list forbids the request. The hint names the roles that may publish it.
    static func forbidden(_ topic: String, _ reason: String, _ table: AccessTable) -> ClientFailure {
        let roles = table.roles(publishingTo: topic).map(\.rawValue).joined(separator: " or ")
        let login = roles.isEmpty ? "" : "log in as a user with the role \(roles), or "
        return ClientFailure(
            exitCode: .failed, code: reason, text: "The broker does not let this user publish to \(topic)",
            hint: login + "allow it to this user in the broker's access control list")
    }

    /// The error of a result (MQTT contract, section 4).
    init(result: JSONValue) {
        let error = result["error"]
        self.init(
            exitCode: .failed, code: error?["code"]?.string ?? "internal",
            text: error?["text"]?.string ?? "The bridge reports an error without a text",
            hint: error?["hint"]?.string)
    }
}
