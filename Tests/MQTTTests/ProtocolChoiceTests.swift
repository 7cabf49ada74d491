import Testing

@testable import MQTT

@Suite("Protocol choice")
struct ProtocolChoiceTests {
    /// What happens to the choice; `nil` stands for an accepted connection.
    private static func version(_ wanted: MQTTConfiguration.Version, _ events: [MQTTError.Code?]) -> MQTTVersion {
        var choice = ProtocolChoice(wanted)
        for code in events {
            if let code { _ = choice.failed(code) } else { choice.accepted() }
        }
        return choice.version
    }

    @Test(
        "falls back when the broker shows that it does not speak MQTT 5",
        arguments: [
            (.automatic, [], .v5),
            (.automatic, [.unsupportedProtocolVersion], .v311),
            (.automatic, [.connectionLost], .v5),
            (.automatic, [.connectionLost, .connectionLost], .v311),
            (.automatic, [.protocolError, .connectionLost], .v311),
            // Not in a row.
            (.automatic, [.connectionLost, .unreachable, .connectionLost], .v5),
            // The broker that closed has spoken MQTT 5 before: it is only restarting.
            (.automatic, [nil, .connectionLost, .connectionLost], .v5),
            (.automatic, [nil, .unsupportedProtocolVersion], .v311),
            // 3.1.1 fares no better: it was something else.
            (.automatic, [.connectionLost, .connectionLost, .connectionLost, .connectionLost], .v5),
            (.automatic, [.unsupportedProtocolVersion, .connectionLost, .connectionLost], .v311),
            (.automatic, [.badUserNameOrPassword, .notAuthorized, .tls, .timeout], .v5),
            (.v5, [.unsupportedProtocolVersion, .connectionLost, .connectionLost], .v5),
            (.v311, [.unsupportedProtocolVersion], .v311),
        ] as [(MQTTConfiguration.Version, [MQTTError.Code?], MQTTVersion)])
    func fallsBack(wanted: MQTTConfiguration.Version, events: [MQTTError.Code?], expected: MQTTVersion) {
        #expect(Self.version(wanted, events) == expected)
    }

    @Test("says when it has changed")
    func tells() {
        var choice = ProtocolChoice(.automatic)
        #expect(choice.failed(.connectionLost) == false)
        #expect(choice.failed(.connectionLost) == true)
        #expect(choice.failed(.unsupportedProtocolVersion) == false)
    }
}
