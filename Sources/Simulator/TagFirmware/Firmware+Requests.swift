import JacquardProtocol
import Time

extension Firmware {
    /// What a request does, and how it is answered. A body that is missing or out of range gets status 2, what is
    /// unknown status 1.
    mutating func execute(_ request: Request, at now: Instant) -> FirmwareReply {
        switch request.domain {
        case .base: executeTagRequest(request, at: now)
        case .gear: executeGearRequest(request)
        case .motion: executeMotionRequest(request, at: now)
        default: .refused(.unsupported)
        }
    }

    private mutating func executeTagRequest(_ request: Request, at now: Instant) -> FirmwareReply {
        switch (request.opcode, request.body) {
        case (.hello, _): hello
        case (.begin, .begin(let body)): begin(body)
        case (.deviceInfo, .deviceInfo(let body)): deviceInformation(body)
        case (.configRead, .configRead(let body)): .with(.config(configuration.selected(by: body)))
        case (.configWrite, .configWrite(let body)): configure(body)
        case (.ledPattern, .ledPattern(let body)): playLED(body, on: .tag)
        case (.batteryStatus, .batteryStatus(let body)): batteryStatus(body)
        case (.listModules, _), (.loadModule, _), (.unloadModule, _), (.deleteModule, _):
            executeModuleRequest(request, at: now)
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

    /// Begins a session, also a second one on the same link: the configuration that follows makes the tag report battery and gear.
    private mutating func begin(_ body: BeginRequest) -> FirmwareReply {
        guard body.protocolVersion == HelloResponse.supportedProtocol else { return .refused(.badParameter) }
        link?.isConfigured = false
        return .with(.begin(BeginResponse()))
    }

    private var hello: FirmwareReply {
        .with(
            .hello(
                HelloResponse(
                    protocolMinimum: HelloResponse.supportedProtocol,
                    protocolMaximum: HelloResponse.supportedProtocol,
                    vendor: FirmwareIdentity.vendor, model: FirmwareIdentity.model, vendorID: .google, productID: .tag))
        )
    }

    private func deviceInformation(_ request: DeviceInfoRequest) -> FirmwareReply {
        guard request.component ?? Component.tagComponentID == Component.tagComponentID else {
            return .refused(.badParameter)
        }
        var body = DeviceInfoResponse(
            vendor: FirmwareIdentity.vendor, model: FirmwareIdentity.model, revision: FirmwareIdentity.revision,
            uuid: identity.uuid)
        body.firmware = identity.firmware
        body.bootloader = FirmwareIdentity.bootloader
        body.vendorID = .google
        body.productID = .tag
        return .with(.deviceInfo(body))
    }

    private func batteryStatus(_ request: BatteryStatusRequest) -> FirmwareReply {
        var body = BatteryStatusReport(battery)
        if request.readsLevel != true { body.level = nil }
        if request.readsChargingStatus != true { body.chargingStatus = nil }
        return .with(.batteryStatus(body))
    }

    private mutating func disconnect(_ request: BLEDisconnectRequest, at now: Instant) -> FirmwareReply {
        let seconds = request.timeoutSeconds ?? 0
        let onlyMovementWakes = request.reconnectOnlyOnWakeOnMotion ?? false
        link?.sleepsAfterwards = onlyMovementWakes
        var reply = FirmwareReply(effect: .disconnect(seconds: seconds, onlyMovementWakes: onlyMovementWakes))
        if seconds == 0 {
            reply.afterwards = [.dropLink]
        } else {
            link?.plan([.dropLink], at: now + .seconds(seconds))
        }
        return reply
    }

    func playLED(_ request: LEDPatternRequest, on target: TagCommand.Target) -> FirmwareReply {
        guard let pattern = request.pattern, !pattern.frames.isEmpty || pattern.haltsAll,
            request.intensityLevel ?? 100 <= 100
        else {
            return .refused(.badParameter)
        }
        return FirmwareReply(effect: .led(pattern, on: target))
    }
}

extension Firmware {
    /// Carries a request out and answers it, as healthily as the faults allow.
    mutating func answer(_ request: Request, id: UInt32, at now: Instant) -> [FirmwareAction] {
        let fault = faults.take()
        if fault == .hang || (request.domain == .base && faults.unansweredOpcodes.contains(request.opcode)) {
            return []
        }
        let reply: FirmwareReply
        if case .status(let number) = fault {
            reply = .refused(Status(rawValue: number))
        } else {
            reply = execute(request, at: now)
        }
        let component = request.domain == .gear ? request.componentID ?? gear?.componentID : nil
        let response = Response(
            id: id, status: reply.status, componentID: component ?? Component.tagComponentID, body: reply.body)
        return reply.effect.map { [.effect($0)] }.orEmpty + send(response, fault, at: now) + reply.afterwards
    }

    private mutating func send(
        _ response: Response, _ fault: FirmwareFaults.AnswerFault?, at now: Instant
    ) -> [FirmwareAction] {
        let healthy = notify(response.encoded(), on: .response)
        switch fault {
        case nil, .hang, .status: return healthy
        case .drop: return []
        case .delay(let wait):
            link?.plan(healthy, at: now + wait)
            return []
        case .double: return healthy + healthy
        case .wrongID: return send(response) { $0.id &+= 1 }
        case .noBody: return send(response) { $0.body = nil }
        case .malformed: return notify([0xFF, 0xFF, 0xFF], on: .response)
        case .truncated:
            let packet = response.encoded()
            return notify(Array(packet.prefix(packet.count / 2)), on: .response)
        case .lostFragment: return healthy.dropLast()
        }
    }

    private func send(_ response: Response, _ change: (inout Response) -> Void) -> [FirmwareAction] {
        var response = response
        change(&response)
        return notify(response.encoded(), on: .response)
    }

    /// The fragments of a packet; none when the client has not subscribed, as the radio sends none then.
    func notify(_ packet: [UInt8], on channel: TagCharacteristic) -> [FirmwareAction] {
        guard let link, link.subscriptions.contains(channel),
            let fragments = try? Fragmenter.fragments(of: packet, maximumLength: link.fragmentLength)
        else {
            return []
        }
        return fragments.map { .notify($0, on: channel) }
    }

    func notify(_ notification: Notification) -> [FirmwareAction] {
        notify(notification.encoded(), on: .notify)
    }
}

extension Optional where Wrapped == [FirmwareAction] {
    fileprivate var orEmpty: [FirmwareAction] { self ?? [] }
}

/// How a request ends: what is answered, and what happens besides.
struct FirmwareReply {
    var status = Status.ok
    var body: Response.Body?
    var effect: TagEffect?
    /// Done behind the answer.
    var afterwards: [FirmwareAction] = []

    static let ok = FirmwareReply()

    static func refused(_ status: Status, body: Response.Body? = nil) -> FirmwareReply {
        FirmwareReply(status: status, body: body)
    }

    static func with(_ body: Response.Body, effect: TagEffect? = nil) -> FirmwareReply {
        FirmwareReply(body: body, effect: effect)
    }
}

extension Firmware {
    /// Plays what the recording has after a request. A request that it lacks is answered as by any simulated tag.
    mutating func replay(_ request: Request, id: UInt32, at now: Instant) -> [FirmwareAction] {
        guard let steps = replay?.steps(for: request, at: now) else {
            return [.effect(.unrecorded(request))] + answer(request, id: id, at: now)
        }
        plan(steps, id: id, at: now)
        return []
    }

    /// Plans the steps of a replay.
    mutating func plan(_ steps: [Replay.Step], id: UInt32 = 0, at now: Instant) {
        for step in steps { link?.plan(step.output.actions(id: id), at: now + step.delay) }
    }
}
