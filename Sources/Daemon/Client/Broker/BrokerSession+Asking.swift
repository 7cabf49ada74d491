import Bridge
import CommandLine
import Configuration
import EventLoop
import JSON
import MQTT
import Time

extension BrokerSession {
    /// Whether the bridge of the configuration is there, by what the broker retains.
    ///
    /// - Parameter filters: what else to subscribe to at the same time.
    /// - Throws: `noConnection`, with a code that says which part is missing.
    func expectBridge(_ filters: [String] = []) async throws(ClientFailure) {
        let messages = try await snapshot(of: [topics.state, topics.stateOfEveryBridge] + filters)
        switch messages.last(where: { $0.topic == topics.state }).map({ String(decoding: $0.payload, as: UTF8.self) }) {
        case "online": return
        case nil, "": throw .bridgeUnknown(topics.instance, others: topics.bridges(in: messages))
        default: throw .bridgeOffline(topics.instance)
        }
    }

    /// Asks the bridge for something and waits for the final result.
    ///
    /// - Parameters:
    ///   - request: what.
    ///   - progress: shows what happens meanwhile.
    ///   - announce: says what to do once the request is on its way; nil: that the answer is waited for.
    ///   - observe: gets the messages that come meanwhile.
    /// - Returns: the document of the result, whose status is `ok`.
    /// - Throws: the error of the result, or `noConnection`.
    func ask(
        _ request: BridgeRequest, _ progress: Progress, announce: (() -> Void)? = nil,
        observe: (MQTTMessage) -> Void = { _ in }
    ) async throws(ClientFailure) -> JSONValue {
        defer { progress.end() }
        progress.say("looking for the bridge \(topics.instance)")
        try await expectBridge([request.resultTopic, answers, topics.event])
        let exchange = BridgeExchange(request: request, topics: topics, answers: answers)
        let ticket = publish(request.topic, request.payload.text, correlation: request.id)
        if let announce {
            // The step before is over; what it would say late is no help.
            progress.end()
            announce()
        } else {
            progress.say("waiting for \(request.waitsFor)")
        }
        var limit = request.firstWord
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
        throw .silent(topics.instance, within: limit)
    }

    private func check(_ signal: Signal, _ ticket: UInt64, of request: BridgeRequest) throws(ClientFailure) {
        switch signal {
        case .refused(ticket, let error): throw .forbidden(request.topic, error.code.name)
        case .lost(let error): throw .lost(error.text)
        case .interrupted: throw .interrupted
        case .message, .connected, .taken, .refused: break
        }
    }
}

extension ClientFailure {
    /// The user did not want to wait.
    static let interrupted = ClientFailure(exitCode: .failed, code: "interrupted", text: "Interrupted")

    /// The broker's access control does not let us ask.
    static func forbidden(_ topic: String, _ reason: String) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: reason, text: "The broker does not let this user publish to \(topic)",
            hint: "allow it in the broker's access control list")
    }
}
