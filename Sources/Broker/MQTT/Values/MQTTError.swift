/// An error between this client and its broker.
///
/// Neither the text nor the description holds a password or a payload.
public struct MQTTError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, by what can be done about it. A reason code of the broker has its own name as its code.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Lower case, words joined by underscores.
        public let name: String

        init(_ name: String) {
            self.name = name
        }

        /// The name.
        public var description: String { name }
    }

    /// The name and number by which a library or a protocol knows the failure, to search for.
    public struct Underlying: Hashable, Sendable, CustomStringConvertible {
        /// Such as `MOSQ_ERR_CONN_LOST` or `not_authorized`.
        public let name: String
        /// Its number there.
        public let number: Int

        init(_ name: String, _ number: Int) {
            self.name = name
            self.number = number
        }

        /// `name (number)`.
        public var description: String { "\(name) (\(number))" }
    }

    /// The kind of failure.
    public let code: Code
    /// One line for people.
    public let text: String
    /// The code of libmosquitto or the broker; nil for an error that this module has found.
    public let underlying: Underlying?

    /// Creates an error.
    package init(_ code: Code, _ text: String, underlying: Underlying? = nil) {
        self.code = code
        self.text = text
        self.underlying = underlying
    }

    /// `code: text [name (number)]`.
    public var description: String {
        "\(code): \(text)" + (underlying.map { " [\($0)]" } ?? "")
    }
}

extension MQTTError {
    /// The broker's reason code, 0x80 or above; nil for an error of the client. The library's own numbers are lower.
    public var reason: UInt8? {
        underlying.flatMap { UInt8(exactly: $0.number) }.flatMap { $0 >= 0x80 ? $0 : nil }
    }

    /// Whether the broker may have closed the connection because of a message that it received: unless it names a reason
    /// that has nothing to do with messages, or nothing came from it.
    public var mayBeCausedByMessage: Bool { !Self.otherReasons.contains(code) }

    private static let otherReasons: Set<Code> = [
        .serverUnavailable, .serverShuttingDown, .keepAliveTimeout, .sessionTakenOver, .stopped, .timeout, .unreachable,
        .nameNotResolved, .notConnected, .init("server_busy"), .init("banned"), .init("message_rate_too_high"),
        .init("use_another_server"), .init("server_moved"), .init("connection_rate_exceeded"),
        .init("maximum_connect_time"), .subscriptionEndsConnection,
    ]

    static let stopped = MQTTError(.stopped, "the client was stopped")
    static let notConnected = MQTTError(.notConnected, "there is no connection to the broker")
}

extension MQTTError {
    /// The beginning of the text of an error before the broker has said anything, on a connection that was taken.
    public static let unanswered = "something took the connection and "

    /// The refusal of a connection whose version and credentials the broker had accepted from a connection that discards
    /// the session: nothing but the session that is kept is different.
    func afterDiscarding(_ version: MQTTVersion) -> MQTTError {
        guard Self.refusals.contains(code) else { return self }
        return MQTTError(
            .sessionRefused,
            "the broker speaks MQTT \(version.rawValue), but refuses a session that outlasts its connection (\(text))",
            underlying: underlying)
    }

    /// Refusals that do not pass by themselves.
    private static let refusals: Set<Code> = [
        .unsupportedProtocolVersion, .notAuthorized, .init("unspecified_error"),
        .init("implementation_specific_error"), .init("client_identifier_not_valid"),
    ]
}

extension MQTTError.Code {
    /// The broker's name has no address.
    public static let nameNotResolved = Self("name_not_resolved")
    /// No broker listens at the address, or there is no route to it.
    public static let unreachable = Self("unreachable")
    /// The broker accepted the connection but did not respond in time.
    public static let timeout = Self("timeout")
    /// Keys, files or the encryption itself.
    public static let tls = Self("tls")
    /// No authority that is trusted has signed the broker's certificate.
    public static let certificateUntrusted = Self("certificate_untrusted")
    /// The broker's certificate has expired, or is not valid yet.
    public static let certificateExpired = Self("certificate_expired")
    /// The broker's certificate names other hosts.
    public static let certificateName = Self("certificate_name")
    /// The broker wants a certificate of the client, or another one.
    public static let clientCertificate = Self("client_certificate")
    /// The connection broke.
    public static let connectionLost = Self("connection_lost")
    /// The connection ended while nothing but a subscription was unanswered.
    public static let subscriptionEndsConnection = Self("subscription_ends_connection")
    /// There is no connection to publish on.
    public static let notConnected = Self("not_connected")
    /// As many messages wait for their acknowledgement as may; one more can go when one of them is answered.
    public static let backlogFull = Self("backlog_full")
    /// Topic, filter, payload or property is not what MQTT allows.
    public static let invalidMessage = Self("invalid_message")
    /// The configuration cannot work.
    public static let invalidConfiguration = Self("invalid_configuration")
    /// The client was stopped.
    public static let stopped = Self("stopped")
    /// The broker refuses a session that outlasts its connection, though it has accepted the version of the protocol.
    public static let sessionRefused = Self("session_refused")
    /// The library reports something that has no other code here.
    public static let libraryFailure = Self("library_failure")
}

extension MQTTError.Code {
    /// Reason 0x82: the broker broke the protocol, or says that the client did.
    public static let protocolError = Self("protocol_error")
    /// Reason 0x84: the broker does not speak this version.
    public static let unsupportedProtocolVersion = Self("unsupported_protocol_version")
    /// Reason 0x86: wrong credentials.
    public static let badUserNameOrPassword = Self("bad_user_name_or_password")
    /// Reason 0x87: the broker's access control says no.
    public static let notAuthorized = Self("not_authorized")
    /// Reason 0x88: come back later.
    public static let serverUnavailable = Self("server_unavailable")
    /// Reason 0x8B: the broker goes down.
    public static let serverShuttingDown = Self("server_shutting_down")
    /// Reason 0x8D, or the broker's silence over a probe.
    public static let keepAliveTimeout = Self("keep_alive_timeout")
    /// Reason 0x8E: another client has connected with this client's identifier.
    public static let sessionTakenOver = Self("session_taken_over")
    /// Reason 0x95: the broker does not take messages of this size.
    public static let packetTooLarge = Self("packet_too_large")
    /// Reason 0x9B: the broker does not offer this quality of service.
    public static let qosNotSupported = Self("qos_not_supported")
}
