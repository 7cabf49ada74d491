import ProtobufWire

/// Decoding of untrusted bytes.
extension ProxyMessage {
    /// The most elements of a list that are read. The rest is ignored.
    static let longestList = 256

    /// Decodes a message.
    ///
    /// - Returns: nil for a message of an unknown type, which is to be ignored.
    /// - Throws: ``ProxyError/malformed(_:)`` if the bytes are no protobuf message.
    public static func decode(_ frame: FrameChannel.Message) throws(ProxyError) -> ProxyMessage? {
        do {
            return try decode(frame.type, WireReader(frame.body[...]))
        } catch {
            throw .malformed("message \(frame.type): \(error)")
        }
    }

    private static func decode(_ type: UInt32, _ reader: WireReader) throws(ProtobufWireError) -> ProxyMessage? {
        switch type {
        case 1:
            let fields = try ProxyFields(reader)
            return .hello(client: fields.texts[1] ?? "", major: fields.number(2), minor: fields.number(3))
        case 2:
            let fields = try ProxyFields(reader)
            return .helloResponse(
                major: fields.number(1), minor: fields.number(2), server: fields.texts[3] ?? "",
                name: fields.texts[4] ?? "")
        case 5: return .disconnect
        case 6: return .disconnectResponse
        case 7: return .ping
        case 8: return .pingResponse
        case 9: return .deviceInfo
        case 10: return .deviceInfoResponse(try ProxyInfo(reader))
        case 66: return .subscribeAdvertisements(flags: try ProxyFields(reader).number(1))
        case 87: return .unsubscribeAdvertisements
        case 93: return .advertisements(try RawAdvertisement.list(reader))
        case 126: return try ScannerState(rawValue: ProxyFields(reader).number(1)).map(scannerState)
        case 80: return .subscribeConnectionsFree
        case 81: return try connectionsFree(reader)
        case 68...69, 85...86, 145...146: return link(type, try ProxyFields(reader))
        case 71: return try services(reader)
        case 70, 72, 75, 77...79, 82...84: return access(type, try ProxyFields(reader))
        default: return nil
        }
    }

    private static func link(_ type: UInt32, _ fields: ProxyFields) -> ProxyMessage? {
        let address = fields.address
        switch type {
        case 68:
            return DeviceRequest(rawValue: fields.number(2)).map {
                .device(address, $0, addressType: fields.isTrue(3) ? fields.number(4) : nil)
            }
        case 69:
            return .connection(
                address, isConnected: fields.isTrue(2), mtu: fields.number(3), error: fields.signed(4))
        case 85: return .paired(address, isPaired: fields.isTrue(2), error: fields.signed(3))
        case 86: return .unpaired(address, isRemoved: fields.isTrue(2), error: fields.signed(3))
        case 145:
            return .setParameters(
                address, minimum: fields.number(2), maximum: fields.number(3), latency: fields.number(4),
                timeout: fields.number(5))
        default: return .parametersSet(address, error: fields.signed(2))
        }
    }

    private static func access(_ type: UInt32, _ fields: ProxyFields) -> ProxyMessage? {
        let (address, handle) = (fields.address, fields.number(2))
        return switch type {
        case 70: .getServices(address)
        case 72: .servicesDone(address)
        case 75: .write(address, handle: handle, withResponse: fields.isTrue(3), fields.data[4] ?? [])
        case 77: .writeDescriptor(address, handle: handle, fields.data[3] ?? [])
        case 78: .notify(address, handle: handle, isOn: fields.isTrue(3))
        case 79: .value(address, handle: handle, fields.data[3] ?? [])
        case 82: .failed(address, handle: handle, error: fields.signed(3))
        case 83: .written(address, handle: handle)
        case 84: .notifySet(address, handle: handle)
        default: nil
        }
    }

    private static func connectionsFree(_ message: WireReader) throws(ProtobufWireError) -> ProxyMessage {
        var reader = message
        var (free, limit): (UInt32?, UInt32?)
        var allocated: [UInt64] = []
        while let field = try reader.nextField() {
            switch field.number {
            case 1: field.read(&free)
            case 2: field.read(&limit)
            case 3: try field.appendNumbers(to: &allocated)
            default: break
            }
        }
        return .connectionsFree(
            free: free ?? 0, limit: limit ?? 0, allocated: allocated.filter { $0 != 0 })
    }

    private static func services(_ message: WireReader) throws(ProtobufWireError) -> ProxyMessage {
        var reader = message
        var address: UInt64?
        var services: [ProxyService] = []
        while let field = try reader.nextField() {
            switch field.number {
            case 1: field.read(&address)
            case 2:
                if services.count < longestList, let body = field.message {
                    services.append(try ProxyService(body))
                }
            default: break
            }
        }
        return .services(address ?? 0, services)
    }
}

/// The fields of a message without lists.
private struct ProxyFields {
    private var numbers: [UInt32: UInt64] = [:]
    private(set) var data: [UInt32: [UInt8]] = [:]

    init(_ message: WireReader) throws(ProtobufWireError) {
        var reader = message
        while let field = try reader.nextField() {
            guard field.number < 32 else { continue }
            switch field.value {
            case .varint(let number): numbers[field.number] = number
            case .bytes(let bytes): data[field.number] = Array(bytes)
            case .fixed32, .fixed64: break
            }
        }
    }

    var texts: [UInt32: String] { data.mapValues { String(decoding: $0, as: UTF8.self) } }
    /// The address of a device, 48 bits.
    var address: UInt64 { numbers[1] ?? 0 }
    func number(_ field: UInt32) -> UInt32 { UInt32(truncatingIfNeeded: numbers[field] ?? 0) }
    func signed(_ field: UInt32) -> Int32 { Int32(truncatingIfNeeded: numbers[field] ?? 0) }
    func isTrue(_ field: UInt32) -> Bool { numbers[field] ?? 0 != 0 }
}

extension ProxyInfo {
    fileprivate init(_ message: WireReader) throws(ProtobufWireError) {
        self.init()
        var reader = message
        while let field = try reader.nextField() {
            switch field.number {
            case 2: if let text = String(wireValue: field.value) { name = text }
            case 4: if let text = String(wireValue: field.value) { version = text }
            case 15: if let bits = UInt32(wireValue: field.value) { features = Features(rawValue: bits) }
            case 18: if let text = String(wireValue: field.value) { bluetoothAddress = text }
            default: break
            }
        }
    }
}

extension RawAdvertisement {
    /// The most bytes of an advertisement and its scan response together, of which an extended one has 1650. ESPHome
    /// sends at most 62.
    private static let longestData = 255

    fileprivate static func list(_ message: WireReader) throws(ProtobufWireError) -> [RawAdvertisement] {
        var reader = message
        var all: [RawAdvertisement] = []
        // ESPHome sends at most 16.
        all.reserveCapacity(16)
        while let field = try reader.nextField() {
            guard field.number == 1, let body = field.message, all.count < ProxyMessage.longestList else { continue }
            all.append(try RawAdvertisement(body))
        }
        return all
    }

    private init(_ message: WireReader) throws(ProtobufWireError) {
        self.init(address: 0, rssi: 0, addressType: 0, slice: [])
        var reader = message
        while let field = try reader.nextField() {
            switch (field.number, field.value) {
            case (1, .varint(let number)): address = number
            case (2, .varint(let number)):
                // `sint32`
                let bits = UInt32(truncatingIfNeeded: number)
                rssi = Int32(bitPattern: bits >> 1) ^ -Int32(bitPattern: bits & 1)
            case (3, .varint(let number)): addressType = UInt32(truncatingIfNeeded: number)
            case (4, .bytes(let bytes)): data = bytes.prefix(Self.longestData)
            default: break
            }
        }
    }
}

extension ProxyService {
    fileprivate init(_ message: WireReader) throws(ProtobufWireError) {
        self.init(id: ID(short: 0), handle: 0, characteristics: [])
        var reader = message
        var id = PartialID()
        while let field = try reader.nextField() {
            switch field.number {
            case 2: if let number = UInt32(wireValue: field.value) { handle = number }
            case 3:
                if characteristics.count < ProxyMessage.longestList, let body = field.message {
                    characteristics.append(try Characteristic(body))
                }
            default: try id.read(field, short: 4)
            }
        }
        self.id = id.value
    }
}

extension ProxyService.Characteristic {
    fileprivate init(_ message: WireReader) throws(ProtobufWireError) {
        self.init(id: ProxyService.ID(short: 0), handle: 0, properties: 0, descriptors: [])
        var reader = message
        var id = PartialID()
        while let field = try reader.nextField() {
            switch field.number {
            case 2: if let number = UInt32(wireValue: field.value) { handle = number }
            case 3: if let number = UInt32(wireValue: field.value) { properties = number }
            case 4:
                if descriptors.count < ProxyMessage.longestList, let body = field.message {
                    descriptors.append(try ProxyService.Descriptor(body))
                }
            default: try id.read(field, short: 5)
            }
        }
        self.id = id.value
    }
}

extension ProxyService.Descriptor {
    fileprivate init(_ message: WireReader) throws(ProtobufWireError) {
        self.init(id: ProxyService.ID(short: 0), handle: 0)
        var reader = message
        var id = PartialID()
        while let field = try reader.nextField() {
            if field.number == 2 {
                if let number = UInt32(wireValue: field.value) { handle = number }
            } else {
                try id.read(field, short: 3)
            }
        }
        self.id = id.value
    }
}

/// A UUID while its fields are read: two numbers, or a short one.
private struct PartialID {
    private var parts: [UInt64] = []
    private var short: UInt32?

    var value: ProxyService.ID {
        if let short, short != 0 { return ProxyService.ID(short: short) }
        return parts.count == 2 ? ProxyService.ID(high: parts[0], low: parts[1]) : ProxyService.ID(short: 0)
    }

    mutating func read(_ field: WireField, short number: UInt32) throws(ProtobufWireError) {
        if field.number == 1 { try field.appendNumbers(to: &parts) }
        if field.number == number { field.read(&short) }
    }
}

extension WireField {
    /// Appends the numbers of a repeated field: one, or all of them if the field is packed.
    fileprivate func appendNumbers(to list: inout [UInt64]) throws(ProtobufWireError) {
        switch value {
        case .varint(let number): if list.count < ProxyMessage.longestList { list.append(number) }
        case .bytes:
            guard var reader = message else { return }
            while !reader.remaining.isEmpty {
                let number = try reader.readVarint()
                if list.count < ProxyMessage.longestList { list.append(number) }
            }
        case .fixed32, .fixed64: break
        }
    }
}
