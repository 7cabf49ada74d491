internal import CMosquitto
internal import Glibc

extension MQTTError {
    /// A failure that libmosquitto reports.
    ///
    /// - Parameters:
    ///   - status: `MOSQ_ERR_x`.
    ///   - number: `errno` right after the call; counts for `MOSQ_ERR_ERRNO`.
    ///   - complaints: the lines of the library's log, its only source of details about TLS errors.
    ///   - certificate: what OpenSSL found of the broker's certificate, `X509_V_ERR_x`; 0 when nothing is wrong with it, nil if it
    ///     is not known.
    ///   - host: the host that was asked for.
    init(
        library status: CInt, errno number: CInt = 0, complaints: [String] = [], certificate: Int? = nil,
        host: String = ""
    ) {
        let (name, code) = Self.names[status] ?? ("MOSQ_ERR", .libraryFailure)
        let explanation = Self.explanation(of: complaints)
        if let finding = CertificateFinding(certificate, complaints, host: host) {
            self.init(finding.code, "\(finding.text) (\(explanation))", underlying: .init(name, Int(status)))
            return
        }
        let isTLS = code == .tls || complaints.contains { $0.hasPrefix(Self.openSSL) }
        let text =
            switch (status, number) {
            case _ where isTLS: explanation
            // What OpenSSL has nothing to say about (net_mosq.c, net__handle_ssl).
            case (MOSQ_ERR_ERRNO.rawValue, EPROTO): Self.resetInHandshake.text
            case (MOSQ_ERR_ERRNO.rawValue, 1...): Self.text(of: number)
            // libmosquitto 2.0.11 says "Unknown error." about these two.
            case (MOSQ_ERR_KEEPALIVE.rawValue, _): Self.silent.text
            case (MOSQ_ERR_MALFORMED_PACKET.rawValue, _): "the broker sent a malformed packet"
            default: String(cString: mosquitto_strerror(status))
            }
        self.init(isTLS ? .tls : code, text, underlying: .init(name, Int(status)))
    }

    /// The failure of a publish, where a bad value is the message's and not the configuration's.
    init(publishing status: CInt) {
        let error = MQTTError(library: status)
        let isMessage = error.code == .invalidConfiguration || error.code == .protocolError
        self.init(isMessage ? .invalidMessage : error.code, error.text, underlying: error.underlying)
    }

    /// A connection that failed with this `errno` before the first packet: no TCP connection came about, or the broker has ended it.
    /// 0, a hang-up without an error, comes from a host that refuses.
    static func unopened(_ number: CInt) -> MQTTError {
        switch number {
        case ECONNRESET, EPIPE: resetInHandshake
        default: MQTTError(.unreachable, text(of: number == 0 ? ECONNREFUSED : number))
        }
    }

    /// A broker that answers no ping.
    static let silent = MQTTError(.keepAliveTimeout, "the broker no longer responds")

    /// The broker did not like something about TLS, and its reset has overtaken the alert that would say what.
    static let resetInHandshake = MQTTError(
        .tls,
        "the broker reset the encrypted connection; at the beginning it may want a client certificate, or no encryption"
    )

    static func text(of number: CInt) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }

    /// `OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed` and the library's own sentences.
    private static func explanation(of complaints: [String]) -> String {
        let lines = complaints.map { line in
            line.hasPrefix(Self.openSSL) ? line.split(separator: ":").last.map(String.init) ?? line : line
        }
        return lines.isEmpty ? "TLS failed" : "TLS failed: " + lines.joined(separator: "; ")
    }

    private static let openSSL = "OpenSSL Error"

    private static let names: [CInt: (String, Code)] = [
        1: ("MOSQ_ERR_NOMEM", .libraryFailure),
        2: ("MOSQ_ERR_PROTOCOL", .protocolError),
        3: ("MOSQ_ERR_INVAL", .invalidConfiguration),
        4: ("MOSQ_ERR_NO_CONN", .notConnected),
        5: ("MOSQ_ERR_CONN_REFUSED", .notAuthorized),
        7: ("MOSQ_ERR_CONN_LOST", .connectionLost),
        8: ("MOSQ_ERR_TLS", .tls),
        9: ("MOSQ_ERR_PAYLOAD_SIZE", .packetTooLarge),
        10: ("MOSQ_ERR_NOT_SUPPORTED", .invalidConfiguration),
        14: ("MOSQ_ERR_ERRNO", .connectionLost),
        15: ("MOSQ_ERR_EAI", .nameNotResolved),
        18: ("MOSQ_ERR_MALFORMED_UTF8", .protocolError),
        19: ("MOSQ_ERR_KEEPALIVE", .keepAliveTimeout),
        21: ("MOSQ_ERR_MALFORMED_PACKET", .protocolError),
        22: ("MOSQ_ERR_DUPLICATE_PROPERTY", .protocolError),
        23: ("MOSQ_ERR_TLS_HANDSHAKE", .tls),
        24: ("MOSQ_ERR_QOS_NOT_SUPPORTED", .qosNotSupported),
        25: ("MOSQ_ERR_OVERSIZE_PACKET", .packetTooLarge),
    ]
}
