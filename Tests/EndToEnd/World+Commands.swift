import EventLoop
import MQTTTypes
import TestSupport
import Testing

/// Commands, and what comes of them.
extension World {
    /// The topic on which the results of a command come.
    nonisolated static func resultTopic(_ topic: String) -> String {
        guard !topic.contains("/request/") else { return topic.replacing("/request/", with: "/response/") }
        return topic.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            + "/result"
    }

    /// Gives a command and waits for its final result.
    func command(
        _ topic: String, _ payload: String, isRetained: Bool = false, within limit: Duration = .seconds(20)
    ) async throws -> [String: Any] {
        let message = MQTTMessage(
            topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce, isRetained: isRetained)
        return try await command(message, within: limit)
    }

    /// Gives a command as a message of any kind and waits for its final result.
    func command(_ message: MQTTMessage, within limit: Duration = .seconds(20)) async throws -> [String: Any] {
        let result = Self.resultTopic(message.topic)
        let before = finals(result).count
        try observer.publish(message)
        let text = String(decoding: message.payload.prefix(60), as: UTF8.self)
        try await until("the result of \(message.topic) \(text)", within: limit) { finals(result).count > before }
        return finals(result)[before]
    }

    /// Asks the bridge itself.
    @discardableResult
    func request(_ verb: String, _ payload: String = "") async throws -> [String: Any] {
        try await command("\(Self.bridge)/request/\(verb)", payload)
    }

    /// The final results on a topic.
    func finals(_ topic: String) -> [[String: Any]] {
        results(topic).filter { $0["final"] as? Bool == true }
    }

    /// All results on a topic.
    func results(_ topic: String) -> [[String: Any]] {
        observer.payloads(of: topic).map(Observer.object)
    }

    /// The events of the bridge of one type.
    func events(_ type: String) -> [[String: Any]] {
        results(Self.bridge + "/event").filter { $0["type"] as? String == type }
    }

    /// Waits until a tag has answered everything it was asked before.
    @discardableResult
    func settled(_ tag: String = "0001") async throws -> [String: Any] {
        try await command("jacquard/tag/\(tag)/battery/get", "")
    }

    /// Gives a command of a tag inputs that make no sense: each gets one final result with its code, and the tag is
    /// asked for nothing. That is known from a fault of the tag which the next request meets.
    func refuses(_ topic: String, _ inputs: [(payload: String, code: String)], tag: String = "0001") async throws {
        try await settled(tag)
        try await simulate("fault \(tag) status 3 once")
        let before = finals(Self.resultTopic(topic)).count
        for (payload, code) in inputs {
            let result = try await command(topic, payload)
            #expect(result["status"] as? String == "error", "\(topic) \(payload.prefix(60))")
            #expect(Self.code(of: result) == code, "\(topic) \(payload.prefix(60))")
        }
        let isBattery = topic.hasSuffix("battery/get")
        #expect(Self.code(of: try await settled(tag)) == "tag_error", "\(topic): the tag was asked for something")
        #expect(finals(Self.resultTopic(topic)).count == before + inputs.count + (isBattery ? 1 : 0), "\(topic)")
    }

    /// Gives a command that is carried out, and gets its data.
    @discardableResult
    func succeeds(_ topic: String, _ payload: String = "") async throws -> [String: Any] {
        let result = try await command(topic, payload)
        #expect(result["status"] as? String == "ok", "\(topic) \(payload): \(result)")
        return result["data"] as? [String: Any] ?? [:]
    }

    /// The code of a result's error.
    nonisolated static func code(of result: [String: Any]) -> String? {
        (result["error"] as? [String: Any])?["code"] as? String
    }
}
