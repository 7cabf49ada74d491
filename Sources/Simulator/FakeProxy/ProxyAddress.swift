import ESPHome
import FakeBlueZ

/// Addresses and UUIDs as numbers and as text.
enum ProxyAddress {
    /// The text of an address, such as `F0:00:00:00:00:01`.
    static func text(_ number: UInt64) -> String {
        stride(from: 40, through: 0, by: -8).map { shift in
            let byte = UInt8(truncatingIfNeeded: number >> UInt64(shift))
            return (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined(separator: ":")
    }

    /// The number of an address; 0 for any other text.
    static func number(_ text: String) -> UInt64 {
        UInt64(text.split(separator: ":").joined(), radix: 16) ?? 0
    }

    /// The UUID of its text.
    static func id(_ uuid: String) -> ProxyService.ID {
        let digits = uuid.filter { $0 != "-" }
        return ProxyService.ID(
            high: UInt64(digits.prefix(16), radix: 16) ?? 0, low: UInt64(digits.suffix(16), radix: 16) ?? 0)
    }
}

extension BroadcastData {
    /// The structures of the advertisement and of the scan response, as an ESP32 passes them on.
    var structures: [UInt8] {
        var bytes: [UInt8] = [2, 0x01, 0x06]
        for service in services {
            let id = ProxyAddress.id(service)
            if id == ProxyService.ID(short: UInt32(truncatingIfNeeded: id.high >> 32)), id.high >> 48 == 0 {
                bytes += [3, 0x03] + Self.littleEndian(id.high >> 32).prefix(2)
            } else {
                bytes += [17, 0x07] + Self.littleEndian(id.low) + Self.littleEndian(id.high)
            }
        }
        bytes += [UInt8(clamping: name.utf8.count + 1), 0x09] + Array(name.utf8)
        for (company, data) in manufacturerData.sorted(by: { $0.key < $1.key }) {
            bytes += [UInt8(clamping: data.count + 3), 0xFF] + Self.littleEndian(UInt64(company)).prefix(2) + data
        }
        return bytes
    }

    private static func littleEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
