import JSON
import JacquardProtocol
import Time

/// `T/find`: whether a tag blinks. It is published since its first use, and always while Home Assistant discovery is on.
struct FindFact: Hashable, Sendable {
    var isOn = false
    /// Whether the tag was ever searched for.
    var isUsed: Bool
    /// Whether Home Assistant discovery is on.
    var isDiscovered: Bool

    /// Whether it is published.
    var isShown: Bool { isUsed || isDiscovered }
}

extension FindFact {
    static let topic = TopicRow("find", .fact, while: .feature, isRecorded: true) { document in
        document == "on" ? "blinks until it is found" : "does not blink"
    }
}
