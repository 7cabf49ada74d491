/// The size of a message, and the limit that it exceeds.
public struct MessageSize: Hashable, Sendable {
    /// The size of the payload in bytes.
    public let bytes: Int
    /// The largest packet that the broker accepts, in bytes; nil if the broker has not announced it.
    public let limit: Int?

    /// Creates a size.
    public init(bytes: Int, limit: Int? = nil) {
        self.bytes = bytes
        self.limit = limit
    }
}

/// The largest announcement of Home Assistant's discovery in each form, in bytes.
public enum AnnouncementSize {
    /// A message for each device.
    public static let device = 14_000
    /// A message for each entity.
    public static let single = 1_100
}

/// The remedies for messages that are too large for the broker.
private enum SizeRemedy {
    static let form =
        "set home_assistant: {form: single}, whose messages have about 1,000 bytes, or raise the broker's limit "
        + "(max_packet_size in mosquitto.conf) and restart both"
    static let limit = "raise the broker's limit (max_packet_size in mosquitto.conf), then restart both"
}

extension Cause {
    /// The broker has announced a limit that a message exceeds.
    ///
    /// - Parameters:
    ///   - topic: its topic.
    ///   - size: its size and the limit.
    ///   - isDeviceForm: whether it is an announcement that the other form makes smaller.
    /// - Returns: the cause.
    public static func messageTooLarge(_ topic: String, _ size: MessageSize, isDeviceForm: Bool) -> Cause {
        let limit = size.limit.map { "at most \($0) bytes" } ?? "no message of that size"
        return Cause(
            .brokerRefuses, .broker,
            "The broker takes \(limit), and the message to \(topic) has \(size.bytes): it is not published",
            remedies: [isDeviceForm ? SizeRemedy.form : SizeRemedy.limit])
    }

    /// The broker has closed connections while a message was the only one in flight.
    ///
    /// - Parameters:
    ///   - topic: its topic.
    ///   - bytes: its size; nil if it is unknown.
    ///   - isDeviceForm: whether it is an announcement that the other form makes smaller.
    /// - Returns: the cause.
    public static func messageEndsConnection(_ topic: String, bytes: Int?, isDeviceForm: Bool) -> Cause {
        let size = bytes.map { " (\($0) bytes)" } ?? ""
        let remedy = "look at the broker's log and its limits"
        return Cause(
            .brokerRefuses, .broker,
            "The broker closes the connection when it receives a message to \(topic)\(size), which was dropped",
            remedies: isDeviceForm ? ["it may be too large for the broker: \(SizeRemedy.form)", remedy] : [remedy])
    }

    /// Another client uses the identity of this bridge.
    ///
    /// - Parameters:
    ///   - clientID: the client identifier of this bridge.
    ///   - instance: the instance name of this bridge.
    ///   - isBridge: whether the other one is a bridge with the same instance name.
    /// - Returns: the cause.
    public static func identifierInUse(clientID: String, instance: String, isBridge: Bool) -> Cause {
        let other = "with the client identifier \(clientID)"
        return Cause(
            .identifierInUse, .broker,
            isBridge
                ? "Another bridge runs as instance \(instance), \(other) of this one: each ends the other's connection or "
                    + "overwrites its topics"
                : "Another client connects \(other) of this bridge: each ends the other's connection",
            remedies: [
                "give one of the two another instance, and another mqtt.client_id if it is set: a copied memory card has the "
                    + "same host name and configuration",
                "or stop the other one: sudo systemctl disable --now jacquard2mqtt",
            ])
    }
}
