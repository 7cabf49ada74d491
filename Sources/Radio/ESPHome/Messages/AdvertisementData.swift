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
    /// The most companies whose data is kept of one device.
    static let mostCompanies = 16

    /// Reads untrusted bytes. A structure that is longer than the rest ends the advertisement.
    init(_ bytes: ArraySlice<UInt8>) {
        Self.forEachStructure(of: bytes) { type, content in
            read(type, content)
            return true
        }
    }

    init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// Whether untrusted bytes name one of two services. Allocates no memory: most devices around are of no interest.
    static func names(_ first: BluetoothUUID?, or second: BluetoothUUID?, in bytes: ArraySlice<UInt8>) -> Bool {
        var isFound = false
        forEachStructure(of: bytes) { type, content in
            guard let width = serviceWidth(of: type) else { return true }
            isFound = forEachService(in: content, width: width) { $0 == first || $0 == second }
            return !isFound
        }
        return isFound
    }

    /// Calls a function with each structure until it returns false.
    private static func forEachStructure(
        of bytes: ArraySlice<UInt8>, _ body: (_ type: UInt8, _ content: ArraySlice<UInt8>) -> Bool
    ) {
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let end = position + 1 + Int(bytes[position])
            guard end > position + 1, end <= bytes.endIndex, body(bytes[position + 1], bytes[(position + 2)..<end])
            else { return }
            position = end
        }
    }

    private static func serviceWidth(of type: UInt8) -> Int? {
        switch type {
        case 0x02, 0x03: 2
        case 0x04, 0x05: 4
        case 0x06, 0x07: 16
        default: nil
        }
    }

    /// Calls a function with each service until it returns true; whether it has.
    private static func forEachService(
        in content: ArraySlice<UInt8>, width: Int, _ body: (BluetoothUUID) -> Bool
    ) -> Bool {
        var position = content.startIndex
        while position + width <= content.endIndex {
            let bytes = content[position..<(position + width)]
            let id =
                width == 16
                ? ProxyService.ID(high: number(bytes.suffix(8)), low: number(bytes.prefix(8)))
                : ProxyService.ID(short: UInt32(truncatingIfNeeded: number(bytes)))
            if body(BluetoothUUID(high: id.high, low: id.low)) { return true }
            position += width
        }
        return false
    }

    private mutating func read(_ type: UInt8, _ content: ArraySlice<UInt8>) {
        switch type {
        case 0x02...0x07: readServices(content, width: Self.serviceWidth(of: type) ?? 16)
        case 0x08 where name == nil, 0x09: name = String(decoding: content, as: UTF8.self)
        case 0xFF where content.count >= 2:
            let company = UInt16(content[content.startIndex]) | UInt16(content[content.startIndex + 1]) << 8
            manufacturerData[company] = Array(content.dropFirst(2))
        default: break
        }
    }

    private mutating func readServices(_ content: ArraySlice<UInt8>, width: Int) {
        _ = Self.forEachService(in: content, width: width) { service in
            guard services.count < Self.mostServices else { return true }
            services.append(service)
            return false
        }
    }

    private static func number(_ littleEndian: ArraySlice<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        for byte in littleEndian.reversed() { number = number << 8 | UInt64(byte) }
        return number
    }

    /// Adds what another packet of the same device contains.
    mutating func merge(_ other: AdvertisementData) {
        for service in other.services where !services.contains(service) && services.count < Self.mostServices {
            services.append(service)
        }
        if let text = other.name { name = text }
        for (company, data) in other.manufacturerData
        where manufacturerData[company] != nil || manufacturerData.count < Self.mostCompanies {
            manufacturerData[company] = data
        }
    }
}
