import JacquardProtocol

/// A topic at which the sender of a command wants the result as well (MQTT 5).
///
/// The bridge publishes there with its own rights, so the sender must not reach a topic at which it could not publish itself.
/// Allowed are topics outside the base topic and outside Home Assistant's discovery prefix, and `<base>/client/<name>/...`.
/// The longest of the three that contains the topic decides.
struct ResponseTopic: Hashable, Sendable {
    /// The topic, at most 256 bytes.
    let text: String

    /// Maximum length in bytes.
    static let maxBytes = 256
    /// Maximum number of levels; mosquitto closes the connection for a topic with more than 200.
    static let maxLevels = 64

    static func == (left: ResponseTopic, right: ResponseTopic) -> Bool {
        ExactText(left.text) == ExactText(right.text)
    }

    func hash(into hasher: inout Hasher) {
        ExactText(text).hash(into: &hasher)
    }

    /// Checks the response topic of a command.
    ///
    /// - Returns: nil for a topic that is not allowed.
    init?(_ text: String, protecting domain: ProtectedTopics) {
        guard (1...Self.maxBytes).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "$"),
            text.unicodeScalars.allSatisfy(Self.isAllowed),
            text.utf8.count(where: { $0 == UInt8(ascii: "/") }) < Self.maxLevels,
            !domain.protects(text)
        else { return nil }
        self.text = text
    }

    /// Brokers refuse control characters and noncharacters. U+FFFD replaces bytes that were not valid UTF-8.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0xFDD0...0xFDEF, 0xFFFD: false
        case let value where value & 0xFFFE == 0xFFFE: false
        default: scalar != "+" && scalar != "#"
        }
    }
}

/// The topics of the bridges and of Home Assistant.
struct ProtectedTopics: Hashable, Sendable {
    /// The base topic of the bridges.
    let base: String
    /// The discovery prefix.
    let discoveryPrefix: String
    /// Home Assistant's birth topic.
    let statusTopic: String?

    /// Returns whether a topic is protected.
    func protects(_ topic: String) -> Bool {
        if let statusTopic, ExactText(topic) == ExactText(statusTopic) { return true }
        let clients = base + "/client"
        let isPrivate = topic.topic(below: clients).map(Self.isOfClient) ?? false
        let rules = [(base, false), (discoveryPrefix, false), (clients, isPrivate)]
        let deciding = rules.filter { ExactText(topic) == ExactText($0.0) || topic.isTopic(below: $0.0) }
            .max { $0.0.utf8.count < $1.0.utf8.count }
        return deciding.map { !$0.1 } ?? false
    }

    /// Returns whether the rest of a topic has the form `<name>/...`.
    private static func isOfClient(_ rest: Substring) -> Bool {
        let levels = rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return levels.count >= 2 && levels.allSatisfy { !$0.isEmpty }
    }
}
