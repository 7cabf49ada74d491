import JacquardProtocol
import Testing

/// The meaning of the messages, beyond their bytes.
@Suite("Meaning of messages")
struct MeaningTests {
    @Test(
        "hello is supported with version 2 only",
        arguments: [(2, 2, true), (1, 2, false), (2, 3, false), (3, 1, false), (0, 0, false), (3, 3, false)])
    func hello(minimum: UInt32, maximum: UInt32, isSupported: Bool) {
        let hello = HelloResponse(protocolMinimum: minimum, protocolMaximum: maximum, vendor: "", model: "")
        #expect(hello.isSupported == isSupported)
    }

    @Test("the gestures of a user are listed once each, in the order of their numbers")
    func gestures() {
        #expect(Gesture.known.map(\.rawValue) == [1, 2, 3, 7, 13, 14])
    }

    @Test("gear is attached only if the state is true and all three numbers are there")
    func attached() throws {
        let whole = AttachedNotification(
            vendorID: .google, productID: JacquardIdentifier(rawValue: 0x092F_41AB), componentID: 4)
        let gear = try #require(whole.gear(in: .builtIn))
        #expect(gear.product.name == "Patch B0")
        #expect(gear.componentID == 4)
        let changes: [(inout AttachedNotification) -> Void] = [
            { $0.isAttached = nil }, { $0.isAttached = false }, { $0.vendorID = nil }, { $0.productID = nil },
            { $0.componentID = nil }, { $0 = AttachedNotification() },
        ]
        for change in changes {
            var notification = whole
            change(&notification)
            #expect(notification.gear(in: .builtIn) == nil)
        }
    }

    @Test("a battery has both fields and a known charging status")
    func battery() {
        var report = BatteryStatusReport()
        #expect(report.status == nil)
        report.level = 101
        #expect(report.status == nil)
        report.chargingStatus = .charging
        #expect(report.status == BatteryStatus(level: 100, isCharging: true))
        report.chargingStatus = BatteryStatusReport.ChargingStatus(rawValue: 0)
        #expect(report.status == nil)
        report.chargingStatus = .notCharging
        report.level = nil
        #expect(report.status == nil)
    }

    @Test("a version is present if one of its parts is")
    func version() throws {
        let none = try deviceInfo([])
        #expect(none.firmware == nil)
        #expect(none.bootloader == nil)
        #expect(try deviceInfo([0x30, 96]).firmware == FirmwareVersion(0, 96, 0))
        #expect(try deviceInfo([0x28, 1, 0x30, 96, 0x38, 2]).firmware == FirmwareVersion(1, 96, 2))
        #expect(try deviceInfo([0x40, 1]).bootloader == FirmwareVersion(1, 0, 0))
    }

    /// A device information of the required fields and these.
    private func deviceInfo(_ fields: [UInt8]) throws -> DeviceInfoResponse {
        let required: [UInt8] = [0x0A, 1, 0x56, 0x12, 1, 0x4D, 0x18, 4, 0x22, 1, 0x55]
        let body = required + fields
        let packet = [0x08, 1, 0x10, 0, 0xBA, 0x06, UInt8(body.count)] + body
        guard case .deviceInfo(let info) = try Response.decode(packet[...]).body else {
            throw MessageError.missingField("device_info")
        }
        return info
    }

    @Test("device information describes the tag, with its known numbers if the response lacks them")
    func tagComponent() throws {
        let tag = try deviceInfo([0x28, 1, 0x30, 96]).tagComponent
        #expect(tag.componentID == 0)
        #expect(tag.vendor == Component.Name(id: .google, name: "V"))
        #expect(tag.product == Component.Name(id: .tag, name: "28-3b-e7-a0"))
        #expect(tag.capabilities == [.led])
        #expect(tag.version == FirmwareVersion(1, 96, 0))
        #expect(tag.uuid == "U")
    }

    @Test("an LED pattern is unchanged after encoding and decoding", arguments: LEDPattern.Kind.allCases)
    func led(kind: LEDPattern.Kind) {
        let color = LEDPattern.Color(red: 1, green: 128, blue: 255)
        let pattern = LEDPattern.predefined(
            kind, color: color, durationMilliseconds: 700, playType: .toggle, isResumable: true)
        #expect(LEDPatternRequest(pattern).pattern == pattern)
        #expect(LEDPatternRequest(.haltAll).pattern == .haltAll)
    }

    @Test("an LED pattern out of range is rejected")
    func ledOutOfRange() {
        let changes: [(inout LEDPatternRequest) -> Void] = [
            { $0.patternType = nil }, { $0.patternType = 0 }, { $0.patternType = 8 }, { $0.playType = 2 },
            { $0.frames[0].color?.green = 256 },
        ]
        for change in changes {
            var request = LEDPatternRequest(.haltAll)
            change(&request)
            #expect(request.pattern == nil)
        }
    }

    @Test("a haptic pattern is unchanged after encoding and decoding", arguments: HapticPattern.Symbol.allCases)
    func haptic(symbol: HapticPattern.Symbol) {
        let pattern = HapticPattern(
            symbol: symbol, onMilliseconds: .max, offMilliseconds: 1, maxAmplitudePercent: 100, repeatNMinusOne: .max)
        #expect(HapticRequest(pattern).symbol?.hapticPattern == pattern)
    }

    @Test("a haptic pattern out of range is rejected")
    func hapticOutOfRange() {
        let changes: [(inout HapticSymbol) -> Void] = [
            { $0.pattern = 8 }, { $0.maxAmplitudePercent = 101 }, { $0.onMilliseconds = 65_536 },
            { $0.offMilliseconds = 65_536 }, { $0.repeatNMinusOne = 256 },
        ]
        for change in changes {
            var symbol = HapticSymbol(.stop)
            change(&symbol)
            #expect(symbol.hapticPattern == nil)
        }
    }

    @Test("a touch mode is one stream on and the other off", arguments: TouchMode.allCases)
    func touchMode(mode: TouchMode) {
        #expect(DataChannelRequest(mode).touchMode == mode)
        var response = DataChannelResponse(mode)
        #expect(response.touchMode == mode)
        response.streams.touch = response.streams.inference
        #expect(response.touchMode == nil)
        response.streams.touch = nil
        #expect(response.touchMode == nil)
    }

    @Test("a touch has 13 values; a missing sequence is 0")
    func touch() throws {
        let touch = try #require(TouchData(sequence: 0, scaled: Array(0..<13)))
        var notification = DataChannelNotification(touch)
        #expect(notification.touch == touch)
        notification.touchData?.sequence = nil
        #expect(notification.touch == touch)
        for count in [0, 1, 12, 14, 26, 255] as [UInt8] {
            notification.touchData?.scaledValues = Array(0..<count)
            #expect(notification.touch == nil, "\(count) values")
        }
        notification.touchData?.scaledValues = nil
        #expect(notification.touch == nil)
        #expect(notification.gesture == nil)
    }

    @Test("a gesture without a name is passed on")
    func gesture() {
        #expect(DataChannelNotification(Gesture(rawValue: 129)).gesture?.rawValue == 129)
        #expect(DataChannelNotification().gesture == nil)
    }

    @Test("of two values in the store the lower field is used, and of one field the last value")
    func configElement() throws {
        #expect(try element("1A 04 28 07 10 01") == .bool(true))
        #expect(try element("1A 04 10 01 28 07") == .bool(true))
        #expect(try element("1A 04 18 01 18 02") == .uint32(2))
        // A boolean with the wire type of text is an unknown field.
        #expect(try element("1A 04 12 00 28 07") == .int32(7))
    }

    /// The value of the element in a request to write it.
    private func element(_ hex: String) throws -> ConfigElement.Value? {
        let body = [UInt8](hex: hex)
        let packet = [0x08, 0, 0x10, 25, 0x18, 1, 0xD2, 0x07, UInt8(body.count)] + body
        guard case .configSet(let request) = try Request.decode(packet[...]).request.body else { return nil }
        return request.element?.value
    }

    @Test(
        "two versions of firmware are refused by the SDK",
        arguments: [
            ((1, 0, 6), true), ((1, 1, 0), true), ((1, 0, 5), false), ((1, 0, 7), false), ((1, 1, 1), false),
            ((1, 96, 0), false),
        ] as [((UInt32, UInt32, UInt32), Bool)])
    func knownBad(parts: (UInt32, UInt32, UInt32), isBad: Bool) {
        #expect(FirmwareVersion(parts.0, parts.1, parts.2).isKnownBad == isBad)
    }

    @Test("an LED pattern without flags neither resumes nor halts the others")
    func ledFlags() {
        var request = LEDPatternRequest(
            .predefined(.solid, color: .white, durationMilliseconds: 1_000))
        request.isResumable = nil
        request.haltsAll = nil
        #expect(request.pattern?.isResumable == false)
        #expect(request.pattern?.haltsAll == false)
    }
}
