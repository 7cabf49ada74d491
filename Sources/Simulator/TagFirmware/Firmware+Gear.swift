import JacquardProtocol

/// The requests to gear.
extension Firmware {
    mutating func executeGearRequest(_ request: Request) -> FirmwareReply {
        guard Self.gearOpcodes.contains(request.opcode) else { return .refused(.unsupported) }
        guard let gear else { return .refused(.invalidState) }
        guard request.componentID ?? gear.componentID == gear.componentID else { return .refused(.badParameter) }
        return switch (request.opcode, request.body) {
        case (.gearInfo, .deviceInfo(let body)): deviceInformation(body, of: gear)
        case (.gearLED, .ledPattern(let body)): gear.can(.led) ? playLED(body, on: .gear) : .refused(.unsupported)
        case (.gearHaptic, .haptic(let body)): gear.can(.haptic) ? playHaptic(body) : .refused(.unsupported)
        case (.gearData, .dataChannel(let body)): setTouchMode(body, of: gear)
        default: .refused(.badParameter)
        }
    }

    private static let gearOpcodes: Set<Opcode> = [.gearInfo, .gearLED, .gearHaptic, .gearData]

    private func deviceInformation(_ request: DeviceInfoRequest, of attached: AttachedGear) -> FirmwareReply {
        guard request.component ?? attached.componentID == attached.componentID else {
            return .refused(.badParameter)
        }
        let product = attached.gear.product
        var body = DeviceInfoResponse(
            vendor: product.vendor.name, model: product.product.name, revision: 1,
            uuid: "\(attached.gear.word)-\(identity.serial)")
        body.firmware = FirmwareVersion(1, 2, 3)
        body.bootloader = FirmwareVersion(1, 0, 0)
        body.vendorID = product.vendor.id
        body.productID = product.product.id
        return .with(.deviceInfo(body))
    }

    private func playHaptic(_ request: HapticRequest) -> FirmwareReply {
        guard let pattern = request.symbol?.hapticPattern else { return .refused(.badParameter) }
        return .with(.haptic(HapticResponse()), effect: .haptic(pattern))
    }

    private mutating func setTouchMode(_ request: DataChannelRequest, of attached: AttachedGear) -> FirmwareReply {
        guard let mode = request.touchMode else { return .refused(.badParameter) }
        let needed: Capability = mode == .gesture ? .gesture : .touchDataStream
        guard attached.can(needed) else { return .refused(.unsupported) }
        gear?.touchMode = mode
        var body = DataChannelResponse(mode)
        body.touchConfiguration = .simulated
        return .with(.dataChannel(body), effect: .touchMode(mode))
    }
}

extension TouchConfiguration {
    /// As long as that of a real answer, so that the answer takes two fragments or more at a small MTU.
    fileprivate static let simulated: TouchConfiguration = {
        var configuration = TouchConfiguration()
        configuration.widgets = [
            Widget(resolution: 12, sensorClockFrequencyDivisor: 8, modulatorCurrentValue: 40),
            Widget(resolution: 12, sensorClockFrequencyDivisor: 8, modulatorCurrentValue: 36),
        ]
        configuration.compensationValues = [UInt8](repeating: 0x20, count: 12)
        configuration.modulatorClockDivisor = 2
        return configuration
    }()
}
