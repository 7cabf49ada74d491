internal import CMosquitto
internal import Glibc

/// An error of a certificate, with a text that says what to do.
struct CertificateFinding: Hashable {
    /// The kind of failure.
    let code: MQTTError.Code
    /// One sentence without a full stop.
    let text: String

    private init(_ code: MQTTError.Code, _ text: String) {
        self.code = code
        self.text = text
    }

    /// Interprets the result of OpenSSL and the library's log; nil if the certificate is not the cause.
    ///
    /// - Parameters:
    ///   - result: `X509_V_ERR_x`, 0 for none.
    ///   - complaints: the lines of the library's log.
    ///   - host: the host that was asked for.
    init?(_ result: Int?, _ complaints: [String], host: String) {
        // To look for a text in a text by `contains` would link the engine of regular expressions, a megabyte.
        func contains(_ words: String) -> Bool { complaints.contains { strstr($0, words) != nil } }
        let isRefused = contains("certificate verify failed")
        if contains("host name verification failed") || Self.ofName.contains(result)
            || (isRefused && Self.withoutError.contains(result))
        {
            self.init(.certificateName, Self.otherHosts(than: host))
        } else if let finding = result.flatMap({ Self.findings[$0] }) {
            self = finding
        } else if contains("alert certificate required") {
            self.init(.clientCertificate, "the broker wants a certificate of the client")
        } else if contains("alert handshake failure") {
            // TLS 1.2 says the same when versions or ciphers have nothing in common.
            self.init(.tls, "the broker refuses the encryption: it may want a certificate of the client")
        } else if contains("alert unknown ca") || contains("alert bad certificate")
            || contains("alert certificate expired")
        {
            self.init(.clientCertificate, "the broker refuses the certificate of the client")
        } else {
            return nil
        }
    }

    /// libmosquitto 2.0 compares the name itself, after OpenSSL has found nothing wrong, and 2.1 lets OpenSSL do it. OpenSSL takes no
    /// address from a common name or from a name of type DNS.
    private static func otherHosts(than host: String) -> String {
        let text = "the broker's certificate names other hosts than \(host)"
        return host.isAddress ? text + ": the address must be in the certificate as an IP address" : text
    }

    /// Mismatches of host name, e-mail address and IP address.
    private static let ofName: Set<Int?> = [62, 63, 64]
    /// No error; the errors of a check that is not OpenSSL's own.
    private static let withoutError: Set<Int?> = [0, 1, 50]

    private static let untrusted = CertificateFinding(
        .certificateUntrusted, "no authority that is trusted has signed the broker's certificate")

    private static let tooWeak = CertificateFinding(
        .certificateUntrusted, "a key or signature of the broker's certificate is too weak for this machine's OpenSSL")

    /// Source: openssl/x509_vfy.h.
    private static let findings: [Int: CertificateFinding] = [
        2: untrusted, 7: untrusted, 18: untrusted, 19: untrusted, 20: untrusted, 21: untrusted, 24: untrusted,
        26: CertificateFinding(.certificateUntrusted, "the broker's certificate is not one for servers"),
        66: tooWeak, 67: tooWeak, 68: tooWeak,
        9: CertificateFinding(.certificateExpired, "the broker's certificate is not valid yet; is the clock right?"),
        10: CertificateFinding(.certificateExpired, "the broker's certificate has expired"),
    ]

    /// OpenSSL's verification result of the peer's certificate; nil without TLS.
    ///
    /// The library reports only that the verification failed. OpenSSL is loaded by the library, and this module is not linked
    /// to it, so its function is looked up at run time.
    static func verifyResult(of library: OpaquePointer) -> Int? {
        guard let session = mosquitto_ssl_get(library), let lookup = function else { return nil }
        return lookup(session)
    }

    private static let function: (@convention(c) (UnsafeMutableRawPointer) -> CLong)? = {
        // nil is RTLD_DEFAULT: everything that the process has loaded.
        guard let symbol = dlsym(nil, "SSL_get_verify_result") else { return nil }
        // `long SSL_get_verify_result(const SSL *ssl)`, openssl/ssl.h.
        return unsafeBitCast(symbol, to: (@convention(c) (UnsafeMutableRawPointer) -> CLong).self)
    }()
}

extension String {
    /// Whether it is an IP address.
    package var isAddress: Bool {
        var (four, six) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, self, &four) == 1 || inet_pton(AF_INET6, self, &six) == 1
    }
}
