import MQTT

/// What became of an attempt to connect to the broker.
enum BrokerContact: Hashable, Sendable {
    /// The broker has accepted us.
    case accepted(MQTTVersion)
    /// It did not come about; `code` is a name of ``MQTT/MQTTError/Code``.
    case failed(code: String, text: String)

    /// The failure that the client reports.
    init(_ error: MQTTError) {
        self = .failed(code: error.code.name, text: error.text)
    }

    /// Nothing has been heard at all.
    static let silent = failed(code: MQTTError.Code.timeout.name, text: "no answer")
}

extension MQTTError {
    /// Whether another attempt would end alike, so that there is no use in waiting for it.
    ///
    /// Not among them: a broker that does not like the version, which is then asked in the older one.
    var isDefinite: Bool {
        MQTTError.Code.ofEncryption.contains(code)
            || [.nameNotResolved, .unreachable, .badUserNameOrPassword, .notAuthorized, .invalidConfiguration]
                .contains(code)
    }
}

extension MQTTError.Code {
    /// What may be wrong with the encryption.
    static let ofEncryption: [MQTTError.Code] = [
        .tls, .certificateUntrusted, .certificateExpired, .certificateName, .clientCertificate,
    ]
}
