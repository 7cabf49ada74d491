/// A reason code of MQTT 5 (section 2.4); 0x80 and above are failures.
package struct MQTTReasonCode: RawRepresentable, Hashable, Sendable {
    /// The number.
    package let rawValue: UInt8

    /// Creates a code from its number.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A code of a CONNACK, which with MQTT 3.1.1 (section 3.2.2.3) has five failures of its own, 1 to 5.
    static func connectionRefusal(_ number: UInt8) -> Self {
        let successors: [UInt8: UInt8] = [1: 0x84, 2: 0x85, 3: 0x88, 4: 0x86, 5: 0x87]
        return Self(rawValue: successors[number] ?? number)
    }

    var isFailure: Bool { rawValue >= 0x80 }

    /// The specification's name in snake case; `reason_200` for a number that it does not know.
    var name: String { Self.names[rawValue] ?? "reason_\(rawValue)" }

    /// The failure that the code stands for; the text begins with what the broker did.
    package func error(_ what: String) -> MQTTError {
        let words = name.split(separator: "_").joined(separator: " ")
        return MQTTError(.init(name), "\(what): \(words)", underlying: .init(name, Int(rawValue)))
    }

    private static let names: [UInt8: String] = [
        0x00: "success",
        0x10: "no_matching_subscribers",
        0x80: "unspecified_error",
        0x81: "malformed_packet",
        0x82: "protocol_error",
        0x83: "implementation_specific_error",
        0x84: "unsupported_protocol_version",
        0x85: "client_identifier_not_valid",
        0x86: "bad_user_name_or_password",
        0x87: "not_authorized",
        0x88: "server_unavailable",
        0x89: "server_busy",
        0x8A: "banned",
        0x8B: "server_shutting_down",
        0x8C: "bad_authentication_method",
        0x8D: "keep_alive_timeout",
        0x8E: "session_taken_over",
        0x8F: "topic_filter_invalid",
        0x90: "topic_name_invalid",
        0x91: "packet_identifier_in_use",
        0x92: "packet_identifier_not_found",
        0x93: "receive_maximum_exceeded",
        0x94: "topic_alias_invalid",
        0x95: "packet_too_large",
        0x96: "message_rate_too_high",
        0x97: "quota_exceeded",
        0x98: "administrative_action",
        0x99: "payload_format_invalid",
        0x9A: "retain_not_supported",
        0x9B: "qos_not_supported",
        0x9C: "use_another_server",
        0x9D: "server_moved",
        0x9E: "shared_subscriptions_not_supported",
        0x9F: "connection_rate_exceeded",
        0xA0: "maximum_connect_time",
        0xA1: "subscription_identifiers_not_supported",
        0xA2: "wildcard_subscriptions_not_supported",
    ]
}

/// The reason of an acknowledgement (MQTT 5, section 2.4).
public enum MQTTReason {
    /// Returns the specification's name in snake case; `reason_200` for a number that it does not define.
    public static func name(_ number: UInt8) -> String { MQTTReasonCode(rawValue: number).name }
}
