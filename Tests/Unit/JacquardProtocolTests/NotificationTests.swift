import JacquardProtocol
import Testing

@Suite("Notification")
struct NotificationTests {
    @Test(
        "is decoded from a real tag's bytes, and encoded to the same",
        arguments: Example<Notification>.all.filter { $0.packet != nil })
    func bytes(_ example: Example<Notification>) throws {
        let packet = try #require(example.packet)
        #expect(try Notification.decode(packet[...]) == example.message)
        #expect(example.message.encoded() == packet)
    }

    @Test("is identified by its body, whatever domain and opcode are")
    func body() throws {
        let notification = try Notification.decode(
            [UInt8](hex: "08 63 10 62 CA 07 04 08 32 10 01")[...])
        #expect(notification.batteryStatus?.status == BatteryStatus(level: 50, isCharging: true))
    }

    @Test("may carry several bodies")
    func severalBodies() throws {
        let notification = try Notification.decode(
            [UInt8](hex: "08 00 10 17 CA 07 04 08 32 10 02 EA 06 00 AA 39 04 0A 02 08 07")[...])
        #expect(notification.batteryStatus?.status == BatteryStatus(level: 50, isCharging: false))
        #expect(notification.attached == AttachedNotification())
        #expect(notification.dataChannel?.gesture == .shortCover)
    }

    @Test(
        "needs domain, opcode and the required fields of its body",
        arguments: [
            ("10 17", "Notification.domain"),
            ("08 00", "Notification.opcode"),
            ("08 00 10 03 B2 06 00", "DisconnectNotification.reconnect"),
            ("08 00 10 10 AA 07 02 18 01", "ErrorNotification.subsystem"),
            ("08 00 10 10 AA 07 02 10 01", "ErrorNotification.errorcode"),
        ])
    func missing(hex: String, field: String) {
        #expect(throws: MessageError.missingField(field)) {
            try Notification.decode([UInt8](hex: hex)[...])
        }
    }
}
