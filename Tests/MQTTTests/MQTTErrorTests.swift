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
        "takes the five refusals of MQTT 3.1.1 for those of MQTT 5",
        arguments: [(1, 0x84), (2, 0x85), (3, 0x88), (4, 0x86), (5, 0x87), (0, 0), (0x87, 0x87)] as [(UInt8, UInt8)])
    func refusal(old: UInt8, new: UInt8) {
        #expect(MQTTReasonCode.connectionRefusal(old).rawValue == new)
    }

    @Test("keeps a number without a name readable")
    func unknown() {
        #expect(MQTTReasonCode(rawValue: 0xC8).name == "reason_200")
    }

    @Test(
        "tells a certificate that is missing from one that may be",
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

    @Test("tells why TLS failed in OpenSSL's own words")
    func tls() {
        let line = "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"
        #expect(MQTTError(library: 8, complaints: [line]).text == "TLS failed: certificate verify failed")
    }
}

@Suite("Configuration")
struct MQTTConfigurationTests {
    @Test("never shows the password")
    func password() {
        var configuration = MQTTConfiguration(host: "broker", clientIdentifier: "jacquard-attic")
        configuration.username = "bridge"
        configuration.password = "hunter2"
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!"\(configuration)\(String(reflecting: configuration))\(dumped)".contains("hunter2"))
    }
}
