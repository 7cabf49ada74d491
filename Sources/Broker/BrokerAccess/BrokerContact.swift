public import MQTT

/// The outcome of an attempt to connect to the broker.
public enum BrokerContact: Hashable, Sendable {
    /// The broker accepted the connection.
    case accepted(MQTTVersion)
    /// The connection failed; `code` is the name of an `MQTTError.Code`.
    case failed(code: String, text: String)

    /// Creates the outcome of a failed attempt.
    init(_ error: MQTTError) {
        self = .failed(code: error.code.name, text: error.text)
    }

    /// Whether it is a failure of this kind.
    func isFailure(_ code: MQTTError.Code) -> Bool {
        if case .failed(code.name, _) = self { true } else { false }
    }

    /// No answer at all.
    public static let silent = failed(code: MQTTError.Code.timeout.name, text: "no answer")
}

extension MQTTError {
    /// Whether another attempt would fail in the same way.
    ///
    /// A rejected protocol version is not permanent: the client then tries the older version.
    var isDefinite: Bool {
        MQTTError.Code.ofEncryption.contains(code)
            || [
                .nameNotResolved, .unreachable, .badUserNameOrPassword, .notAuthorized, .invalidConfiguration,
                .sessionRefused,
            ]
            .contains(code)
    }
}

extension MQTTError.Code {
    /// The errors of TLS.
    public static let ofEncryption: [MQTTError.Code] = [
        .tls, .certificateUntrusted, .certificateExpired, .certificateName, .clientCertificate,
    ]
}
