import Bluetooth

/// The structures of a raw advertisement.
///
/// Source: Bluetooth Core Specification 5.3, volume 3, part C, 11; Core Specification Supplement, part A.
struct AdvertisementData: Hashable, Sendable {
    /// The UUIDs of the services, at most ``mostServices``.
    var services: [BluetoothUUID] = []
    /// The local name; nil if there is none.
    var name: String?
    /// Manufacturer specific data by company.
    var manufacturerData: [UInt16: [UInt8]] = [:]

    static let mostServices = 16

    /// Reads untrusted bytes. A structure that is longer than the rest ends the advertisement.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let length = rest.first.map(Int.init), length > 0, rest.count > length {
            let type = rest[rest.startIndex + 1]
            let content = rest.dropFirst(2).prefix(length - 1)
            rest = rest.dropFirst(length + 1)
            read(type, content)
        }
    }

    private mutating func read(_ type: UInt8, _ content: ArraySlice<UInt8>) {
        switch type {
        case 0x02, 0x03: readServices(content, width: 2)
        case 0x04, 0x05: readServices(content, width: 4)
        case 0x06, 0x07: readServices(content, width: 16)
        case 0x08 where name == nil, 0x09: name = String(decoding: content, as: UTF8.self)
        case 0xFF where content.count >= 2:
            let company = UInt16(content[content.startIndex]) | UInt16(content[content.startIndex + 1]) << 8
            manufacturerData[company] = Array(content.dropFirst(2))
        default: break
        }
    }

    private mutating func readServices(_ content: ArraySlice<UInt8>, width: Int) {
        var rest = content
        while rest.count >= width, services.count < Self.mostServices {
            let number = rest.prefix(width)
            rest = rest.dropFirst(width)
            let id =
                width == 16
                ? ProxyService.ID(high: Self.number(number.suffix(8)), low: Self.number(number.prefix(8)))
                : ProxyService.ID(short: UInt32(truncatingIfNeeded: Self.number(number)))
            services.append(BluetoothUUID(high: id.high, low: id.low))
        }
    }

    private static func number(_ littleEndian: ArraySlice<UInt8>) -> UInt64 {
        littleEndian.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Adds what another packet of the same device contains.
    mutating func merge(_ other: AdvertisementData) {
        for service in other.services where !services.contains(service) && services.count < Self.mostServices {
            services.append(service)
        }
        if let text = other.name { name = text }
        manufacturerData.merge(other.manufacturerData) { $1 }
    }
}
