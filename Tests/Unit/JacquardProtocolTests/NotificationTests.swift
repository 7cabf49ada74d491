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
        "needs domain and opcode", arguments: [("10 17", "Notification.domain"), ("08 00", "Notification.opcode")])
    func missing(hex: String, field: String) {
        #expect(throws: MessageError.missingField(field)) {
            try Notification.decode([UInt8](hex: hex)[...])
        }
    }

    @Test(
        "has no body without the body's required fields, and keeps the others",
        arguments: ["08 00 10 03 B2 06 00", "08 00 10 10 AA 07 02 18 01", "08 00 10 10 AA 07 02 10 01"])
    func missingInBody(hex: String) throws {
        let notification = try Notification.decode([UInt8](hex: hex + " CA 07 04 08 32 10 02")[...])
        #expect(notification.disconnect == nil)
        #expect(notification.error == nil)
        #expect(notification.batteryStatus?.status == BatteryStatus(level: 50, isCharging: false))
    }

    @Test("keeps the last of two bodies with one number, and writes unknown ones in the order of their numbers")
    func others() throws {
        // Field 130 with 1, 118 with 12, 130 again with 2, and field 119 as a number, which is no body.
        let packet = [UInt8](hex: "08 00 10 1E 92 08 02 08 01 B2 07 02 08 0C 92 08 02 08 02 B8 07 01")
        let notification = try Notification.decode(packet[...])
        #expect(notification.ledPattern?.patternUID == 12)
        #expect(notification.encoded() == [UInt8](hex: "08 00 10 1E B2 07 02 08 0C 92 08 02 08 02"))
        var changed = notification
        changed.ledPattern = nil
        #expect(changed.encoded() == [UInt8](hex: "08 00 10 1E 92 08 02 08 02"))
    }

    @Test("keeps at most eight bodies that nobody knows, and those of others")
    func manyBodies() throws {
        var packet = [UInt8](hex: "08 00 10 1E")
        for number in 130..<200 { packet += [UInt8((number << 3 | 2) & 0x7F | 0x80), UInt8(number >> 4), 0] }
        packet += [UInt8](hex: "CA 07 04 08 32 10 02")
        let notification = try Notification.decode(packet[...])
        #expect(notification.batteryStatus?.status == BatteryStatus(level: 50, isCharging: false))
        #expect(notification.encoded().count == 4 + 7 + 8 * 3)
    }
}
