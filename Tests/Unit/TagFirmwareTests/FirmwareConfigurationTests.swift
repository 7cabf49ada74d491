import JacquardProtocol
import TagFirmware
import Testing

@Suite("Firmware: configuration")
struct FirmwareConfigurationTests {
    @Test("answers a write with the whole radio configuration")
    func wholeConfiguration() throws {
        var bench = try Bench()
        try bench.send([0x08, 0x00, 0x10, 0x0B, 0x18, 0x01, 0xEA, 0x44, 0x04, 0x12, 0x02, 0x50, 0x02])
        let minus12: [UInt8] = [0xF4, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        let parts: [[UInt8]] = [
            [0x0A, 0x0D], Array("Jacquard-003R".utf8), [0x10], minus12, [0x18, 0x00],
            [0x25, 0x00, 0x00, 0xA0, 0x41, 0x28, 0x3C],  // fast: 20.0 ms for 60 s
            [0x35, 0x00, 0xA0, 0xA0, 0x44, 0x38, 0x3C],  // slow: 1285.0 ms for 60 s
            [0x40, 0x06, 0x48, 0x90, 0x03, 0x50, 0x02],  // intervals 6 and 400, queue depth as written
        ]
        let ble = Array(parts.joined())
        let head: [UInt8] = [
            0x08, 0x01, 0x10, 0x00, 0x18, 0x00, 0xEA, 0x44, UInt8(ble.count + 2), 0x12, UInt8(ble.count),
        ]
        #expect(bench.responses == [head + ble])
    }

    @Test("reports battery and gear after the first configuration write of a connection only")
    func firstWrite() throws {
        var bench = try Bench(gear: "backpack")
        try bench.request(.notificationQueueDepth(14))
        #expect(
            bench.notifications == [
                [0x08, 0x00, 0x10, 0x17, 0x18, 0x00, 0xCA, 0x07, 0x04, 0x08, 0x57, 0x10, 0x02],
                [0x08, 0x00, 0x10, 0x09, 0x18, 0x00, 0xEA, 0x06, 0x10, 0x08, 0x01]
                    + [0x10, 0x92, 0xC2, 0xDE, 0xDA, 0x0F, 0x18, 0xB0, 0xF1, 0xE1, 0xE6, 0x05, 0x20, 0x65],
            ])
        try bench.request(.notificationQueueDepth(14))
        #expect(bench.notifications.count == 2)
        _ = bench.firmware.disconnected()
        bench.connect()
        try bench.request(.notificationQueueDepth(14))
        #expect(bench.notifications.count == 4)
    }

    @Test("reports no gear when nothing is attached")
    func noGear() throws {
        var bench = try Bench()
        try bench.request(.notificationQueueDepth(14))
        #expect(bench.notifications.count == 1)
    }

    @Test("keeps a new name across connections and advertises it")
    func rename() throws {
        var bench = try Bench()
        try bench.send([
            0x08, 0x00, 0x10, 0x0B, 0x18, 0x01, 0xEA, 0x44, 0x08, 0x12, 0x06, 0x0A, 0x04, 0x44, 0x65, 0x73, 0x6B,
        ])
        #expect(bench.others == [.effect(.renamed("Desk"))])
        #expect(
            bench.firmware.disconnected() == [
                .advertise(FirmwareAdvertisement(name: "Desk", manufacturerData: [0x00, 0x30, 0x6C, 0x3F]))
            ])
        #expect(bench.firmware.configuration.ble?.notificationQueueDepth == 14)
    }

    @Test("refuses a name of 0 or more than 21 bytes with status 2 and an empty body", arguments: ["", "äääääääääää"])
    func badName(name: String) throws {
        var bench = try Bench()
        var ble = BLEConfiguration()
        ble.customAdvertisedName = name
        let answer = try bench.request(.configWrite(TagConfiguration(ble: ble)))
        #expect(answer.status == .badParameter)
        #expect(answer.body == .config(TagConfiguration()))
        #expect(bench.firmware.name == "Jacquard-003R")
    }

    @Test("returns the requested parts")
    func read() throws {
        var bench = try Bench()
        try bench.send([
            0x08, 0x00, 0x10, 0x0A, 0x18, 0x01, 0x20, 0x00, 0xE2, 0x44, 0x06, 0x08, 0x01, 0x10, 0x01, 0x18, 0x01,
        ])
        let answer = try Response.decode(try #require(bench.responses.first)[...])
        #expect(answer.body == .config(bench.firmware.configuration))
        let bleOnly = ConfigReadRequest(readsIMU: false, readsBLE: true, readsWakeOnMotion: false)
        let part = try bench.request(Request(domain: .base, opcode: .configRead, body: .configRead(bleOnly)))
        #expect(part.body == .config(TagConfiguration(ble: try #require(bench.firmware.configuration.ble))))
    }

    @Test("merges motion settings field by field")
    func merge() throws {
        var bench = try Bench()
        // accel_sample_rate 5, gyro_sample_rate 0
        try bench.send([0x08, 0x00, 0x10, 0x0B, 0x18, 0x01, 0xEA, 0x44, 0x06, 0x0A, 0x04, 0x20, 0x05, 0x40, 0x00])
        var change = TagConfiguration()
        change.imu = IMUConfiguration()
        change.imu?.accelerometerRange = 3
        try bench.request(.configWrite(change))
        #expect(bench.firmware.configuration.imu?.accelerometerSampleRate == 5)
        #expect(bench.firmware.configuration.imu?.gyroscopeSampleRate == 0)
        #expect(bench.firmware.configuration.imu?.accelerometerRange == 3)
    }

    @Test("keeps elements by vendor, product and key")
    func store() throws {
        var bench = try Bench()
        // int32 -7 under "k" of the tag
        try bench.send([
            0x08, 0x00, 0x10, 0x19, 0x18, 0x01, 0xD2, 0x07, 0x1C, 0x08, 0xC8, 0xE1, 0xE0, 0x8B, 0x01, 0x10, 0xA0,
            0xCF, 0xEF, 0xC1, 0x02, 0x1A, 0x0E, 0x0A, 0x01, 0x6B, 0x28, 0xF9, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0x01,
        ])
        #expect(bench.responses == [[0x08, 0x01, 0x10, 0x00, 0x18, 0x00]])
        let element = ConfigElement(key: "k", value: .int32(-7))
        #expect(bench.others == [.effect(.stored(element))])
        #expect(try bench.request(.configGet(key: "k")).body == .configGet(ConfigGetResponse(element: element)))
        let nothing = ConfigElement(key: "k", value: nil)
        #expect(
            try bench.request(.configGet(product: JacquardIdentifier(rawValue: 1), key: "k")).body
                == .configGet(ConfigGetResponse(element: nothing)))
    }

    @Test("refuses an element without key or value")
    func badElement() throws {
        var bench = try Bench()
        #expect(try bench.request(.configSet(ConfigElement(key: "k", value: nil))).status == .badParameter)
        #expect(try bench.request(.configSet(ConfigElement())).status == .badParameter)
    }
}
