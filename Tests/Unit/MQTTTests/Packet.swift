/// Bytes of MQTT packets.
enum Packet {
    /// CONNACK of MQTT 5 that accepts, without properties.
    static let accepted5: [UInt8] = [0x20, 0x03, 0x00, 0x00, 0x00]
    /// CONNACK of MQTT 5: unsupported protocol version.
    static let refused5: [UInt8] = [0x20, 0x03, 0x00, 0x84, 0x00]
    /// CONNACK of MQTT 3.1.1 that accepts.
    static let accepted311: [UInt8] = [0x20, 0x02, 0x00, 0x00]
    /// CONNACK of MQTT 3.1.1: unacceptable protocol version.
    static let refused311: [UInt8] = [0x20, 0x02, 0x00, 0x01]

    /// The protocol level of a CONNECT, 5 or 4: it follows the type, one byte of length and `MQTT` with its length.
    static func level(of connect: [UInt8]) -> UInt8? {
        connect.first == 0x10 && connect.count > 8 ? connect[8] : nil
    }

    /// The flags of a CONNECT; 0x02 is clean start.
    static func isCleanStart(_ connect: [UInt8]) -> Bool {
        connect.count > 9 && connect[9] & 0x02 != 0
    }

    /// Whether a CONNECT has a will: flag 0x04.
    static func hasWill(_ connect: [UInt8]) -> Bool {
        connect.count > 9 && connect[9] & 0x04 != 0
    }
}
