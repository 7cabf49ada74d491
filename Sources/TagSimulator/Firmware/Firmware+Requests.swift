import JacquardProtocol
import Time

extension Firmware {
    /// What a request does, and how it is answered. A body that is missing or out of range gets status 2, what is
    /// unknown status 1.
    mutating func carryOut(_ request: Request, at now: Instant) -> Reply {
        switch request.domain {
        case .base: carryOutForTag(request, at: now)
        case .gear: carryOutForGear(request)
        default: .refused(.unsupported)
        }
    }

    private mutating func carryOutForTag(_ request: Request, at now: Instant) -> Reply {
        switch (request.opcode, request.body) {
        case (.hello, _): hello
        case (.begin, .begin(let body)):
            body.protocolVersion == HelloResponse.supportedProtocol
                ? .with(.begin(BeginResponse())) : .refused(.badParameter)
        case (.deviceInfo, .deviceInfo(let body)): deviceInformation(body)
        case (.configRead, .configRead(let body)): .with(.config(configuration.selected(by: body)))
        case (.configWrite, .configWrite(let body)): configure(body)
        case (.ledPattern, .ledPattern(let body)): playLED(body, on: .tag)
        case (.batteryStatus, .batteryStatus(let body)): batteryStatus(body)
        case (.configGet, .configGet(let body)): stored(body)
        case (.configSet, .configSet(let body)): store(body)
        case (.requestDisconnect, .bleDisconnect(let body)): disconnect(body, at: now)
        case (.requestDisconnect, nil): disconnect(BLEDisconnectRequest(), at: now)
        default: .refused(Self.knownOpcodes.contains(request.opcode) ? .badParameter : .unsupported)
        }
    }

    private static let knownOpcodes: Set<Opcode> = [
        .begin, .deviceInfo, .configRead, .configWrite, .ledPattern, .batteryStatus, .configGet, .configSet,
        .requestDisconnect,
    ]

    private var hello: Reply {
        .with(
            .hello(
                HelloResponse(
                    protocolMinimum: HelloResponse.supportedProtocol,
                    protocolMaximum: HelloResponse.supportedProtocol,
                    vendor: TagIdentity.vendor, model: TagIdentity.model, vendorID: .google, productID: .tag)))
    }

    private func deviceInformation(_ request: DeviceInfoRequest) -> Reply {
        guard request.component ?? Component.tagComponentID == Component.tagComponentID else {
            return .refused(.badParameter)
        }
        var body = DeviceInfoResponse(
            vendor: TagIdentity.vendor, model: TagIdentity.model, revision: TagIdentity.revision, uuid: identity.uuid)
        body.firmware = identity.firmware
        body.bootloader = TagIdentity.bootloader
        body.vendorID = .google
        body.productID = .tag
        return .with(.deviceInfo(body))
    }

    private func batteryStatus(_ request: BatteryStatusRequest) -> Reply {
        var body = BatteryStatusReport(battery)
        if request.readsLevel != true { body.level = nil }
        if request.readsChargingStatus != true { body.chargingStatus = nil }
        return .with(.batteryStatus(body))
    }

    private mutating func disconnect(_ request: BLEDisconnectRequest, at now: Instant) -> Reply {
        let seconds = request.timeoutSeconds ?? 0
        let onlyMovementWakes = request.reconnectOnlyOnWakeOnMotion ?? false
        link?.sleepsAfterwards = onlyMovementWakes
        var reply = Reply(told: .disconnect(seconds: seconds, onlyMovementWakes: onlyMovementWakes))
        if seconds == 0 {
            reply.afterwards = [.dropLink]
        } else {
            link?.plan([.dropLink], at: now + .seconds(seconds))
        }
        return reply
    }

    func playLED(_ request: LEDPatternRequest, on target: TagCommand.Target) -> Reply {
        guard let pattern = request.pattern, !pattern.frames.isEmpty || pattern.haltsAll,
            request.intensityLevel ?? 100 <= 100
        else {
            return .refused(.badParameter)
        }
        return Reply(told: .led(pattern, on: target))
    }
}
