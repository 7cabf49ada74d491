import Testing

@testable import MQTT

@Suite("Protocol choice")
struct ProtocolChoiceTests {
    /// The version after a series of failed attempts; `nil` stands for a connection that was accepted and has ended.
    private static func version(_ configured: MQTTConfiguration.Version, _ events: [MQTTError.Code?]) -> MQTTVersion {
        var choice = ProtocolChoice(configured)
        for code in events {
            if let code {
                _ = choice.failed(code)
            } else {
                choice.accepted()
                choice.connectionEnded()
            }
        }
        return choice.version
    }

    @Test(
        "falls back if the broker does not support MQTT 5",
        arguments: [
            (.automatic, [], .v5),
            (.automatic, [.unsupportedProtocolVersion], .v311),
            // Old brokers close the connection without an answer.
            (.automatic, [.connectionLost], .v311),
            (.automatic, [.protocolError], .v311),
            // 3.1.1 has no better result: the cause is something else.
            (.automatic, [.connectionLost, .connectionLost], .v5),
            (.automatic, [.connectionLost, .unreachable], .v5),
            (.automatic, [.connectionLost, .unsupportedProtocolVersion], .v5),
            // A broker that has spoken MQTT 5 can be replaced by an old one.
            (.automatic, [nil, .connectionLost], .v311),
            (.automatic, [nil, .unsupportedProtocolVersion], .v311),
            // 3.1.1 was a guess: after that connection MQTT 5 is tried again.
            (.automatic, [.connectionLost, nil], .v5),
            // A refusal by reason code is final.
            (.automatic, [.unsupportedProtocolVersion, nil], .v311),
            (.automatic, [.unsupportedProtocolVersion, .connectionLost, .connectionLost], .v311),
            (.automatic, [.unsupportedProtocolVersion, .unreachable], .v311),
            (.automatic, [.badUserNameOrPassword, .notAuthorized, .tls], .v5),
            // Some take the connection and stay silent.
            (.automatic, [.timeout], .v311),
            (.automatic, [.timeout, .timeout], .v5),
            (.automatic, [.timeout, nil], .v5),
            // One that has spoken MQTT 5 hangs, unless it goes on for long.
            (.automatic, [nil, .timeout, .timeout], .v5),
            (.automatic, [nil, .timeout, .timeout, .timeout], .v311),
            (.automatic, [nil, .timeout, .timeout, nil, .timeout], .v5),
            // 3.1.1 was accepted, but not the session.
            (.automatic, [.connectionLost, .sessionRefused, .sessionRefused], .v311),
            (.automatic, [.connectionLost, .sessionRefused, .unreachable], .v5),
            (.v5, [.timeout], .v5),
            (.v5, [.unsupportedProtocolVersion, .connectionLost, .connectionLost], .v5),
            (.v311, [.unsupportedProtocolVersion], .v311),
        ] as [(MQTTConfiguration.Version, [MQTTError.Code?], MQTTVersion)])
    func fallsBack(wanted: MQTTConfiguration.Version, events: [MQTTError.Code?], expected: MQTTVersion) {
        #expect(Self.version(wanted, events) == expected)
    }

    @Test("reports a change of the version")
    func reportsChange() {
        var choice = ProtocolChoice(.automatic)
        #expect(choice.failed(.unreachable) == false)
        #expect(choice.failed(.connectionLost) == true)
        #expect(choice.failed(.connectionLost) == true)
        #expect(choice.failed(.unsupportedProtocolVersion) == true)
        #expect(choice.failed(.unsupportedProtocolVersion) == false)
    }
}
