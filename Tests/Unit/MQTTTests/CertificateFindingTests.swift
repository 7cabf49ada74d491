import Testing

@testable import MQTT

@Suite("Findings about certificates")
struct CertificateFindingTests {
    private static let refused = ["OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"]

    /// Source: openssl/x509_vfy.h.
    private static let codes: [(result: Int?, code: MQTTError.Code, words: String)] = [
        (62, .certificateName, "other hosts than broker.lan"), (63, .certificateName, "other hosts than broker.lan"),
        (64, .certificateName, "other hosts than broker.lan"),
        // No error, an unspecified one, and a refusal by the application: libmosquitto has compared the name itself.
        (0, .certificateName, "other hosts than broker.lan"), (1, .certificateName, "other hosts than broker.lan"),
        (50, .certificateName, "other hosts than broker.lan"),
        (2, .certificateUntrusted, "no authority"), (7, .certificateUntrusted, "no authority"),
        (18, .certificateUntrusted, "no authority"), (19, .certificateUntrusted, "no authority"),
        (20, .certificateUntrusted, "no authority"), (21, .certificateUntrusted, "no authority"),
        (24, .certificateUntrusted, "no authority"), (26, .certificateUntrusted, "not one for servers"),
        (66, .certificateUntrusted, "too weak"), (67, .certificateUntrusted, "too weak"),
        (68, .certificateUntrusted, "too weak"), (9, .certificateExpired, "not valid yet"),
        (10, .certificateExpired, "has expired"),
    ]

    @Test("each result of OpenSSL has a code and a text", arguments: codes)
    func results(result: Int?, code: MQTTError.Code, words: String) {
        let finding = CertificateFinding(result, Self.refused, host: "broker.lan")
        #expect(finding?.code == code)
        #expect(finding?.text.contains(words) == true)
    }

    @Test("other results are no finding, and neither is one without a refusal")
    func none() {
        for result in [3, 8, 11, 49, 51, 61, 65, 69] {
            #expect(CertificateFinding(result, Self.refused, host: "broker.lan") == nil)
        }
        for result in [0, 1, 50, nil] { #expect(CertificateFinding(result, [], host: "broker.lan") == nil) }
    }

    @Test("the library's log says what OpenSSL's result does not")
    func log() {
        let lines: [(line: String, code: MQTTError.Code)] = [
            ("Error: host name verification failed.", .certificateName),
            ("tlsv13 alert certificate required", .clientCertificate), ("sslv3 alert handshake failure", .tls),
            ("tlsv1 alert unknown ca", .clientCertificate), ("sslv3 alert bad certificate", .clientCertificate),
            ("sslv3 alert certificate expired", .clientCertificate),
        ]
        for (line, code) in lines {
            #expect(CertificateFinding(nil, ["other", line], host: "broker.lan")?.code == code, "\(line)")
        }
    }

    @Test("an address has to be in the certificate as one")
    func address() {
        let text = CertificateFinding(64, [], host: "192.0.2.7")?.text
        #expect(
            text
                == "the broker's certificate names other hosts than 192.0.2.7: the address must be in the certificate as an IP address"
        )
    }
}
