import Bluetooth
import Testing

@testable import ESPHome

/// The encoding, compared with that of aioesphomeapi 46.23 (protobuf of Google).
@Suite("Messages")
struct ProxyMessageTests {
    static let tag: UInt64 = 0xF000_0000_0001
    static let jacquard = ProxyService(
        id: ProxyService.ID(high: 0xD2F2_BF0D_D165_4C10, low: 0x9EC2_E0DE_C6D8_A7B1), handle: 16,
        characteristics: [
            ProxyService.Characteristic(
                id: ProxyService.ID(high: 1, low: 2), handle: 18, properties: 0x10,
                descriptors: [ProxyService.Descriptor(id: .clientConfiguration, handle: 19)])
        ])
    private static let generic = ProxyService(id: ProxyService.ID(short: 0x1800), handle: 1, characteristics: [])

    private static let encoded: [(ProxyMessage, UInt32, String)] = [
        (.hello(client: "jacquard2mqtt", major: 1, minor: 14), 1, "0a0d6a61637175617264326d7174741001180e"),
        (
            .helloResponse(major: 1, minor: 14, server: "loft (esphome v2026.6.5)", name: "loft"), 2,
            "0801100e1a186c6f66742028657370686f6d652076323032362e362e352922046c6f6674"
        ),
        (.disconnect, 5, ""), (.disconnectResponse, 6, ""), (.ping, 7, ""), (.pingResponse, 8, ""),
        (.deviceInfo, 9, ""),
        (.subscribeAdvertisements(flags: 1), 66, "0801"), (.unsubscribeAdvertisements, 87, ""),
        (
            .advertisements([
                RawAdvertisement(address: tag, rssi: -61, addressType: 1, data: [2, 1, 6]),
                RawAdvertisement(address: 2, rssi: 0, addressType: 0, data: []),
            ]), 93, "0a11088180808080803c1079180122030201060a020802"
        ),
        (.scannerState(.running), 126, "080210011801"), (.subscribeConnectionsFree, 80, ""),
        (.device(tag, .connect, addressType: 1), 68, "088180808080803c100518012001"),
        (.device(tag, .disconnect, addressType: nil), 68, "088180808080803c1001"),
        (.connection(tag, isConnected: true, mtu: 247, error: 0), 69, "088180808080803c100118f701"),
        (.connection(tag, isConnected: false, mtu: 0, error: -1), 69, "088180808080803c20ffffffffffffffffff01"),
        (.paired(tag, isPaired: false, error: 97), 85, "088180808080803c1861"),
        (.unpaired(tag, isRemoved: true, error: 0), 86, "088180808080803c1001"),
        (.getServices(tag), 70, "088180808080803c"), (.servicesDone(tag), 72, "088180808080803c"),
        (.write(tag, handle: 18, withResponse: true, [1, 2]), 75, "088180808080803c1012180122020102"),
        (.writeDescriptor(tag, handle: 19, [1, 0]), 77, "088180808080803c10131a020100"),
        (.written(tag, handle: 18), 83, "088180808080803c1012"),
        (.notify(tag, handle: 18, isOn: true), 78, "088180808080803c10121801"),
        (.notifySet(tag, handle: 18), 84, "088180808080803c1012"),
        (.value(tag, handle: 18, [0xC0, 1]), 79, "088180808080803c10121a02c001"),
        (.failed(tag, handle: 18, error: 5), 82, "088180808080803c10121805"),
        (
            .setParameters(tag, minimum: 6, maximum: 9, latency: 0, timeout: 400), 145,
            "088180808080803c10061809289003"
        ),
        (.parametersSet(tag, error: -1), 146, "088180808080803c10ffffffffffffffffff01"),
    ]

    @Test("are encoded and decoded as by Google's implementation")
    func encoding() throws {
        for (message, type, hexadecimal) in Self.encoded {
            #expect(message.frame.type == type)
            #expect(message.frame.body.hexadecimal == hexadecimal, "\(message)")
            #expect(try Self.decode(type, hexadecimal) == message)
        }
    }

    @Test("with packed lists, and with fields that are not used, are decoded")
    func foreign() throws {
        let info =
            "12046c6f66741a1141413a42423a43433a44443a45453a46462208323032362e362e35320865737033326465766a044c6f6674"
            + "78ff0192011141413a42423a43433a44443a45453a3031aa01050801120178"
        guard case .deviceInfoResponse(let properties)? = try Self.decode(10, info) else {
            Issue.record("no properties")
            return
        }
        #expect(properties.name == "loft")
        #expect(properties.version == "2026.6.5")
        #expect(properties.features == .all)
        #expect(properties.bluetoothAddress == "AA:BB:CC:DD:EE:01")
        let free = try Self.decode(81, "080210031a098180808080803c0000")
        #expect(free == .connectionsFree(free: 2, limit: 3, allocated: [Self.tag]))
        let services =
            "088180808080803c12290a149098958bdde1aff9d201b1cfe2b6ec9bb8e19e0110101a0f0a0201021012181022051013188252120510"
            + "01208030"
        #expect(try Self.decode(71, services) == .services(Self.tag, [Self.jacquard, Self.generic]))
    }

    @Test("with lists are decoded as they were encoded")
    func roundTrip() throws {
        for message in [
            ProxyMessage.services(Self.tag, [Self.jacquard, Self.generic]),
            .connectionsFree(free: 0, limit: 1, allocated: [Self.tag]),
        ] {
            #expect(try ProxyMessage.decode(message.frame) == message)
        }
    }

    @Test("of unknown types and values are ignored")
    func unknown() throws {
        for type in [0, 3, 4, 11, 12, 67, 127, 300, .max] as [UInt32] {
            #expect(try Self.decode(type, "ffff") == nil)
        }
        #expect(try Self.decode(126, "0809") == nil)
        #expect(try Self.decode(68, "0801107f") == nil)
    }

    @Test("that are no protobuf end the connection", arguments: [2, 10, 69, 71, 79, 81, 93] as [UInt32])
    func malformed(type: UInt32) {
        #expect(throws: ProxyError.self) { try Self.decode(type, "0a05") }
    }

    @Test("have bounded lists")
    func bounds() throws {
        let one = RawAdvertisement(address: 1, rssi: 0, addressType: 0, data: [UInt8](repeating: 1, count: 300))
        let many = ProxyMessage.advertisements([RawAdvertisement](repeating: one, count: 400))
        guard case .advertisements(let all)? = try ProxyMessage.decode(many.frame) else {
            Issue.record("no advertisements")
            return
        }
        #expect(all.count == ProxyMessage.longestList)
        #expect(all.allSatisfy { $0.data.count == 255 })
        let slots = ProxyMessage.connectionsFree(free: 0, limit: 9, allocated: Array(1...400))
        guard case .connectionsFree(_, _, let allocated)? = try ProxyMessage.decode(slots.frame) else {
            Issue.record("no slots")
            return
        }
        #expect(allocated.count == ProxyMessage.longestList)
    }

    private static func decode(_ type: UInt32, _ hexadecimal: String) throws -> ProxyMessage? {
        try ProxyMessage.decode(FrameChannel.Message(type: type, body: hexadecimal.bytes))
    }
}

@Suite("Advertisement data")
struct AdvertisementDataTests {
    @Test("contains name, services of every width, and manufacturer data")
    func structures() {
        let parts: [[UInt8]] = [
            [2, 1, 6, 3, 0x03, 0x0F, 0x18, 5, 0x05, 0x78, 0x56, 0x34, 0x12, 5, 0xFF, 0xE0, 0x00, 7, 8],
            [17, 0x07], Array(0..<16), [4, 0x09], Array("Tag".utf8),
        ]
        let data = AdvertisementData(parts.flatMap(\.self))
        #expect(
            data.services.map(\.description) == [
                "0000180f-0000-1000-8000-00805f9b34fb", "12345678-0000-1000-8000-00805f9b34fb",
                "0f0e0d0c-0b0a-0908-0706-050403020100",
            ])
        #expect(data.name == "Tag")
        #expect(data.manufacturerData == [0x00E0: [7, 8]])
    }

    @Test("ends at a structure that is longer than the rest, or of length 0")
    func truncated() {
        let name = [4, 0x09] + Array("Tag".utf8)
        for length in 0..<name.count { #expect(AdvertisementData(Array(name.prefix(length))).name == nil) }
        #expect(AdvertisementData([0] + name).name == nil)
        #expect(AdvertisementData([1, 0x09] + name).name == "Tag")
        #expect(AdvertisementData([2, 0xFF, 0xE0]).manufacturerData.isEmpty)
    }

    @Test("keeps a bounded number of services, and is completed by a scan response")
    func merging() {
        let many = (0..<40).flatMap { number -> [UInt8] in [3, 0x03, UInt8(number), 0x18] }
        #expect(AdvertisementData(many).services.count == AdvertisementData.mostServices)
        let service = AdvertisementData(many).services[3]
        #expect(AdvertisementData.names(nil, or: service, in: many[...]))
        #expect(AdvertisementData.names(service, or: nil, in: many[...]))
        #expect(!AdvertisementData.names(nil, or: nil, in: many[...]))
        #expect(!AdvertisementData.names(service, or: nil, in: many.dropLast(many.count - 3)))
        var data = AdvertisementData([3, 0x03, 0x0F, 0x18, 2, 0x08, 0x54])
        data.merge(AdvertisementData([4, 0x09] + Array("Tag".utf8) + [3, 0xFF, 1, 0]))
        #expect(data.name == "Tag")
        #expect(data.services.count == 1)
        #expect(data.manufacturerData == [1: []])
    }
}
