import JacquardProtocol
import TagFirmware
import Testing

@Suite("Firmware: actions of the user")
struct FirmwareUserTests {
    @Test("reports a gesture of its gear")
    func gesture() throws {
        var bench = try Bench(gear: "jacket")
        bench.take(try bench.firmware.gesture(.doubleTap, at: bench.now))
        #expect(
            bench.notifications == [
                // gear data of component 101: inference 1, 640 ticks
                [0x08, 0x08, 0x10, 0x07, 0x18, 0x65, 0xAA, 0x39, 0x07, 0x0A, 0x02, 0x08, 0x01, 0x18, 0x80, 0x05]
            ])
    }

    @Test("reports touches with a growing sequence in continuous mode, and no gestures then")
    func touch() throws {
        var bench = try Bench(gear: "jacket")
        try bench.request(.touchMode(.continuous, component: 101))
        for _ in 0..<2 { bench.take(try bench.firmware.touch([UInt8](1...13), at: bench.now)) }
        let sequences = try bench.notifications.map {
            try Notification.decode($0[...]).dataChannel?.touch?.sequence
        }
        #expect(sequences == [0, 1])
        #expect(throws: FirmwareError.self) { try bench.firmware.gesture(.doubleTap, at: bench.now) }
    }

    @Test("refuses a touch in gesture mode, and one of the wrong length")
    func badTouch() throws {
        var bench = try Bench(gear: "jacket")
        #expect(throws: FirmwareError.self) { try bench.firmware.touch([UInt8](1...13), at: bench.now) }
        try bench.request(.touchMode(.continuous, component: 101))
        #expect(throws: FirmwareError.self) { try bench.firmware.touch([1, 2], at: bench.now) }
    }

    @Test("refuses a gesture without a connection or without gear")
    func noGesture() throws {
        var alone = try Bench(gear: "jacket", isConnected: false)
        #expect(throws: FirmwareError.self) { try alone.firmware.gesture(.doubleTap, at: alone.now) }
        var bare = try Bench()
        #expect(throws: FirmwareError.self) { try bare.firmware.gesture(.doubleTap, at: bare.now) }
    }

    @Test("reports a change of the battery after the configuration, and returns it before")
    func battery() throws {
        var bench = try Bench()
        bench.take(bench.firmware.setBattery(BatteryStatus(level: 42, isCharging: true)))
        #expect(bench.notifications.isEmpty)
        try bench.request(.notificationQueueDepth(14))
        bench.take(bench.firmware.setBattery(BatteryStatus(level: 50, isCharging: false)))
        #expect(
            bench.notifications == [
                [0x08, 0x00, 0x10, 0x17, 0x18, 0x00, 0xCA, 0x07, 0x04, 0x08, 0x2A, 0x10, 0x01],
                [0x08, 0x00, 0x10, 0x17, 0x18, 0x00, 0xCA, 0x07, 0x04, 0x08, 0x32, 0x10, 0x02],
            ])
    }

    @Test("assigns gear a new number and gesture mode with each attachment")
    func attach() throws {
        var bench = try Bench.configured(gear: "jacket")
        try bench.request(.touchMode(.continuous, component: 101))
        bench.take(bench.firmware.attach(try #require(SimulatedGear(word: "patch-b0"))))
        let sent = try bench.notifications.map { try Notification.decode($0[...]).attached }
        #expect(sent.map { $0?.isAttached } == [false, true])
        #expect(sent.last??.componentID == 102)
        #expect(bench.firmware.gear?.touchMode == .gesture)
        bench.take(try bench.firmware.detach())
        #expect(bench.notifications.last == [0x08, 0x00, 0x10, 0x09, 0x18, 0x00, 0xEA, 0x06, 0x02, 0x08, 0x00])
        #expect(throws: FirmwareError.self) { try bench.firmware.detach() }
    }

    @Test("sleeps until its button is pressed")
    func sleep() throws {
        var bench = try Bench()
        #expect(bench.firmware.sleep() == [.dropLink])
        #expect(bench.firmware.disconnected().isEmpty)
        #expect(bench.firmware.isAsleep)
        #expect(bench.firmware.advertisement == nil)
        let shown = FirmwareAdvertisement(name: "Jacquard-003R", manufacturerData: [0x00, 0x30, 0x6C, 0x3F])
        #expect(bench.firmware.pressButton() == [.advertise(shown)])
        #expect(bench.firmware.pressButton().isEmpty)
        #expect(bench.firmware.sleep() == [.advertise(nil)])
    }
}
