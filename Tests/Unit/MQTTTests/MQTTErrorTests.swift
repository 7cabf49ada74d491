import Glibc
import Testing

@testable import MQTT

@Suite("Error")
struct MQTTErrorTests {
    @Test(
        "has the name of the broker's reason code",
        arguments: [
            (0x86, .badUserNameOrPassword), (0x87, .notAuthorized), (0x88, .serverUnavailable),
            (0x8E, .sessionTakenOver), (0x84, .unsupportedProtocolVersion), (0x95, .packetTooLarge),
            (0x9B, .qosNotSupported), (0x82, .protocolError), (0x8B, .serverShuttingDown),
            (0x8D, .keepAliveTimeout),
        ] as [(UInt8, MQTTError.Code)])
    func reasonCode(number: UInt8, code: MQTTError.Code) {
        let error = MQTTReasonCode(rawValue: number).error("the broker refuses the connection")
        #expect(error.code == code)
        #expect(error.underlying?.number == Int(number))
    }

    @Test(
        "maps the five refusals of MQTT 3.1.1 to those of MQTT 5",
        arguments: [(1, 0x84), (2, 0x85), (3, 0x88), (4, 0x86), (5, 0x87), (0, 0), (0x87, 0x87)] as [(UInt8, UInt8)])
    func refusal(old: UInt8, new: UInt8) {
        #expect(MQTTReasonCode.connectionRefusal(old).rawValue == new)
    }

    @Test(
        "states whether a message may have caused the broker to close the connection",
        arguments: [
            (0x81, true), (0x82, true), (0x87, true), (0x90, true), (0x95, true), (0x99, true), (0x9A, true),
            (0x9B, true), (0x88, false), (0x89, false), (0x8B, false), (0x8D, false), (0x8E, false), (0x96, false),
            (0x9C, false), (0xA0, false),
        ] as [(UInt8, Bool)])
    func causedByMessage(number: UInt8, expected: Bool) {
        #expect(MQTTReasonCode(rawValue: number).error("").mayBeCausedByMessage == expected)
        #expect(MQTTError(.connectionLost, "").mayBeCausedByMessage)
        #expect(!MQTTError.stopped.mayBeCausedByMessage)
        #expect(!MQTTError.unopened(0).mayBeCausedByMessage)
    }

    @Test("has a code for each status of libmosquitto, and a text", arguments: 1...40 as ClosedRange<Int32>)
    func libraryStatus(status: Int32) {
        let codes: [Int32: MQTTError.Code] = [
            2: .protocolError, 3: .invalidConfiguration, 4: .notConnected, 5: .notAuthorized, 7: .connectionLost,
            8: .tls,
            9: .packetTooLarge, 10: .invalidConfiguration, 14: .connectionLost, 15: .nameNotResolved,
            18: .protocolError,
            19: .keepAliveTimeout, 21: .protocolError, 22: .protocolError, 23: .tls, 24: .qosNotSupported,
            25: .packetTooLarge,
        ]
        let error = MQTTError(library: status)
        #expect(error.code == codes[status] ?? .libraryFailure)
        #expect((error.text == "TLS failed") == (error.code == .tls) && !error.text.isEmpty)
        #expect(error.underlying?.number == Int(status))
        #expect(codes[status] == nil || !error.text.contains("Unknown"))
    }

    @Test("has the text of `errno` only with the status that refers to it", arguments: [EPERM, EIO, ECONNRESET])
    func number(errno: Int32) {
        #expect(MQTTError(library: 14, errno: errno).text == MQTTError.text(of: errno))
        #expect(MQTTError(library: 7, errno: errno).text == MQTTError(library: 7).text)
        #expect(MQTTError(library: 14, errno: 0).text == MQTTError(library: 14).text)
    }

    @Test("keeps a number without a name readable")
    func unknown() {
        #expect(MQTTReasonCode(rawValue: 0xC8).name == "reason_200")
    }

    @Test(
        "distinguishes a missing certificate from an untrusted one",
        arguments: [
            ("tlsv13 alert certificate required", .clientCertificate, "the broker wants a certificate"),
            ("sslv3 alert handshake failure", .tls, "it may want a certificate"),
        ] as [(String, MQTTError.Code, String)])
    func alert(words: String, code: MQTTError.Code, text: String) {
        // MOSQ_ERR_TLS
        let error = MQTTError(library: 8, complaints: ["OpenSSL Error[0]: error:0A000410:SSL routines::" + words])
        #expect(error.code == code)
        #expect(error.text.contains(text))
        #expect(error.text.contains(words))
    }

    @Test("reads as one line with the foreign name and number")
    func description() {
        #expect(
            MQTTError(library: 7).description
                == "connection_lost: The connection was lost. [MOSQ_ERR_CONN_LOST (7)]")
        #expect(
            MQTTReasonCode(rawValue: 0x87).error("the broker refuses the message").description
                == "not_authorized: the broker refuses the message: not authorized [not_authorized (135)]")
    }

    @Test("reports why TLS failed in OpenSSL's own words")
    func tls() {
        let line = "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"
        #expect(MQTTError(library: 8, complaints: [line]).text == "TLS failed: certificate verify failed")
    }

    // X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH of openssl/x509_vfy.h; libmosquitto 2.1 leaves the
    // comparison to OpenSSL and has no words of its own. 0 and 50: it was another check that has failed.
    @Test(
        "names a certificate of another host, whatever the library says",
        arguments: [
            ("broker.lan", 62, false), ("192.168.1.5", 64, true), ("fd00::5", 64, true), ("broker.lan", 0, false),
            ("192.168.1.5", 50, true),
        ])
    func otherHost(host: String, result: Int, isAddress: Bool) {
        let line = "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"
        let error = MQTTError(library: 8, complaints: [line], certificate: result, host: host)
        #expect(error.code == .certificateName)
        #expect(error.text.contains("names other hosts than \(host)"))
        #expect(error.text.contains("must be in the certificate as an IP address") == isAddress)
    }

    // X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_EE_KEY_TOO_SMALL.
    @Test("names other errors of a certificate", arguments: [(20, "no authority"), (26, "servers"), (66, "too weak")])
    func certificate(result: Int, text: String) {
        let line = "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"
        let error = MQTTError(library: 8, complaints: [line], certificate: result, host: "broker.lan")
        #expect(error.code == .certificateUntrusted)
        #expect(error.text.contains(text))
    }

    // OASIS MQTT 5.0, table 2-6, from 0x80 on.
    @Test(
        "has the specification's name for every failure",
        arguments: [
            (0x80, "unspecified_error"),
            (0x81, "malformed_packet"),
            (0x82, "protocol_error"),
            (0x83, "implementation_specific_error"),
            (0x84, "unsupported_protocol_version"),
            (0x85, "client_identifier_not_valid"),
            (0x86, "bad_user_name_or_password"),
            (0x87, "not_authorized"),
            (0x88, "server_unavailable"),
            (0x89, "server_busy"),
            (0x8A, "banned"),
            (0x8B, "server_shutting_down"),
            (0x8C, "bad_authentication_method"),
            (0x8D, "keep_alive_timeout"),
            (0x8E, "session_taken_over"),
            (0x8F, "topic_filter_invalid"),
            (0x90, "topic_name_invalid"),
            (0x91, "packet_identifier_in_use"),
            (0x92, "packet_identifier_not_found"),
            (0x93, "receive_maximum_exceeded"),
            (0x94, "topic_alias_invalid"),
            (0x95, "packet_too_large"),
            (0x96, "message_rate_too_high"),
            (0x97, "quota_exceeded"),
            (0x98, "administrative_action"),
            (0x99, "payload_format_invalid"),
            (0x9A, "retain_not_supported"),
            (0x9B, "qos_not_supported"),
            (0x9C, "use_another_server"),
            (0x9D, "server_moved"),
            (0x9E, "shared_subscriptions_not_supported"),
            (0x9F, "connection_rate_exceeded"),
            (0xA0, "maximum_connect_time"),
            (0xA1, "subscription_identifiers_not_supported"),
            (0xA2, "wildcard_subscriptions_not_supported"),
        ] as [(UInt8, String)])
    func names(number: UInt8, name: String) {
        #expect(MQTTReasonCode(rawValue: number).name == name)
        #expect(MQTTReasonCode(rawValue: number).isFailure)
        #expect(!MQTTReasonCode(rawValue: number - 0x80).isFailure)
    }
}
