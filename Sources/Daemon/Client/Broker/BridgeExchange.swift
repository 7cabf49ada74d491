import Bridge
import JSON
import MQTT

/// One request and what comes back, as a value: knows which messages belong to it and what they mean.
struct BridgeExchange: Sendable {
    /// What a message means for the request.
    enum Step: Hashable, Sendable {
        /// Nothing.
        case none
        /// The bridge works on it.
        case accepted
        /// A stage of the work, in words for people.
        case stage(String)
        /// The final result.
        case done(JSONValue)
        /// It has failed.
        case failed(ClientFailure)
    }

    let request: BridgeRequest
    let topics: BridgeTopics
    /// Where answers for us alone come (MQTT 5).
    let answers: String

    /// Takes a message.
    func received(_ message: MQTTMessage) -> Step {
        switch message.topic {
        case topics.state: String(decoding: message.payload, as: UTF8.self) == "offline" ? .failed(offline) : .none
        case topics.event: stage(JSONValue(payload: message.payload))
        case request.resultTopic, answers: result(message)
        default: .none
        }
    }

    private var offline: ClientFailure { .bridgeOffline(topics.instance) }

    private func result(_ message: MQTTMessage) -> Step {
        let document = JSONValue(payload: message.payload)
        let isOurs =
            document["id"]?.string == request.id || message.correlationData == Array(request.id.utf8)
        guard isOurs, !message.isRetained else { return .none }
        switch document["status"]?.string {
        case "accepted": return .accepted
        case "ok": return .done(document)
        case "error": return .failed(ClientFailure(result: document))
        default: return .none
        }
    }

    /// Only what concerns the pairing that was asked for.
    private func stage(_ event: JSONValue) -> Step {
        guard request.topic == topics.request("pair"), let type = event["type"]?.string, type.hasPrefix("pair_") else {
            return .none
        }
        if let serial = event["serial"]?.string, serial != request.payload["serial"]?.string { return .none }
        switch type {
        case "pair_found": return .stage("found it" + (event["address"]?.string.map { " at \($0)" } ?? ""))
        case "pair_pairing": return .stage("pairing")
        case "pair_connecting": return .stage("connecting")
        // The beginning is announced before, and the end is the result's.
        default: return .none
        }
    }
}
