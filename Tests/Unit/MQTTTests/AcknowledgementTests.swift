import EventLoop
import Glibc
import MQTTTypes
import TestSupport
import Testing

@testable import MQTT

@Suite("The way of a publication")
struct AcknowledgementTests {
    @Test("is reported when the socket has accepted everything that was published, once for a turn of the loop")
    func written() async throws {
        try await withClient { client, _ in
            var reports = 0
            client.client.connection?.onWritten = { _ in reports += 1 }
            for ticket in UInt64(1)...20 {
                try client.client.publish(MQTTMessage(topic: "a", payload: [], qos: .atLeastOnce), ticket: ticket)
            }
            #expect(reports == 0)
            try await until("the report") { reports == 1 }
            try await until("the acknowledgements") { client.acknowledged.count == 20 }
            #expect(reports == 1)
            for _ in 1...2 { try await client.subscribe("b") }
            #expect(reports == 3, "subscriptions and acknowledgements are no publications")
        }
    }

    @Test("is acknowledged, too, if it was published while another message is handled")
    func publishedByHandler() async throws {
        try await withClient { client, _ in
            try await client.subscribe("a")
            client.react = { event in
                guard case .message(let message) = event, message.topic == "a" else { return }
                try? client.client.publish(MQTTMessage(topic: "b", payload: [], qos: .atMostOnce), ticket: 2)
            }
            try client.client.publish(MQTTMessage(topic: "a", payload: [], qos: .atLeastOnce), ticket: 1)
            try await until("both acknowledgements") { Set(client.acknowledged).isSuperset(of: [1, 2]) }
        }
    }

    @Test("is reported as written on every connection of a client")
    func writtenAgain() async throws {
        try await withClient { client, _ in
            var reports = 0
            client.client.onWritten = { _ in reports += 1 }
            client.client.cut()
            try await client.connected(times: 2)
            try client.client.publish(MQTTMessage(topic: "a", payload: [], qos: .atLeastOnce), ticket: 1)
            try await until("the report") { reports == 1 }
        }
    }

    @Test("is not reported as written while the socket is full")
    func fullSocket() async throws {
        try await withClient { client, broker in
            var isWritten = false
            client.client.connection?.onWritten = { _ in isWritten = true }
            broker.daemon.signal(SIGSTOP)
            let large = MQTTMessage(topic: "a", payload: [UInt8](repeating: 0, count: 8 << 20), qos: .atLeastOnce)
            try client.client.publish(large, ticket: 1)
            try await until("the socket is full") { client.client.connection?.isFlushing == false }
            #expect(!isWritten)
            broker.daemon.signal(SIGCONT)
            try await until("the rest") { isWritten }
            try await until("the acknowledgement") { client.acknowledged == [1] }
        }
    }

    @Test(
        "ends with the reason of MQTT 5: no subscriber, or a subscriber; 3.1.1 has none",
        arguments: [
            (MQTTConfiguration.Version.v5, false, 0x10), (.v5, true, 0), (.v311, false, 0),
        ] as [(MQTTConfiguration.Version, Bool, UInt8)])
    func reason(version: MQTTConfiguration.Version, isSubscribed: Bool, reason: UInt8) async throws {
        try await withClient({ $0.version = version }) { client, _ in
            if isSubscribed { try await client.subscribe("a") }
            try client.client.publish(MQTTMessage(topic: "a", payload: [], qos: .atLeastOnce), ticket: 1)
            try await until("the acknowledgement") { client.acknowledged.contains(1) }
            #expect(client.events.contains(.acknowledged(ticket: 1, reason: reason)))
        }
    }

    @Test("has names for reasons; an error has one only if it is the broker's")
    func names() {
        #expect(MQTTReason.name(0) == "success")
        #expect(MQTTReason.name(0x10) == "no_matching_subscribers")
        #expect(MQTTReason.name(0x87) == "not_authorized")
        #expect(MQTTReason.name(200) == "reason_200")
        #expect(MQTTReasonCode(rawValue: 0x87).error("x").reason == 0x87)
        #expect(MQTTError(.invalidMessage, "x", underlying: .init("unspecified_error", 0x80)).reason == 0x80)
        #expect(MQTTError(.invalidMessage, "x", underlying: .init("y", 0x7F)).reason == nil)
        #expect(MQTTError(.invalidMessage, "x").reason == nil)
        #expect(MQTTError(.invalidMessage, "x", underlying: .init("MOSQ_ERR_PROTOCOL", 2)).reason == nil)
    }
}
