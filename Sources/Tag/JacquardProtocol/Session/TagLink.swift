import Time

/// State machine of the protocol on one link: start, requests and responses, commands, notifications and upkeep.
///
/// Each method takes an event and appends the actions to perform. A method that throws reports that the link cannot be
/// used further; the session then disconnects it. Source: JacquardSDKiOS, `ProtocolInitializationStateMachine`.
struct TagLink: Sendable {
    /// The actions of a session: `write` and `emit` only.
    typealias Actions = [TagSession.Action]

    private let shared: TagSession.SharedTiming
    /// The number of this connection attempt, for reports.
    private let attempt: Int
    private var catalogue: GearCatalogue
    var channel: PacketChannel
    private var gear: GearState
    private var properties: TagSession.Properties = []
    /// Whether the command characteristic is written with response.
    private var writesWithResponse = true
    /// Offset of all later step numbers: 1 after hello had to be repeated.
    private var extraSteps = 0
    /// When the tag accepted commands for the first time; nil before.
    private(set) var connectedAt: Instant?
    /// Whether the link is being disconnected or is down: nothing more is written.
    private var isEnded = false
    /// The number of requests that have timed out since the last value from the tag.
    private var unanswered = 0
    /// When to request the battery status; nil before the tag is connected.
    private var batteryDue: Instant?
    /// Whether the tag has sent its battery status on this link.
    private var isBatteryKnown = false
    /// The tag's device information; nil until it was received.
    private var tag: Component?
    /// The tag's name; nil until it was received.
    private var tagName: String?
    /// Modules, motion data and raw data.
    var bulk = BulkState()
    /// The commands to gear that wait until the tag has reported its gear, which it does after it is connected.
    private var waitingForGear: [(command: TagCommand, token: UInt64, isFirst: Bool)] = []

    /// Creates the state of a new link.
    init(timing: TagSession.SharedTiming, catalogue: GearCatalogue, attempt: Int) {
        shared = timing
        self.catalogue = catalogue
        self.attempt = attempt
        channel = PacketChannel(writeTimeout: timing.values.write)
        gear = GearState(timing: timing)
    }

    /// When to call ``deadlineReached(at:_:)``; nil if the link waits for nothing.
    var deadline: Instant? {
        var deadline = channel.responseDeadline
        deadline.lower(to: channel.writeDeadline)
        deadline.lower(to: gear.deadline)
        deadline.lower(to: batteryDue)
        deadline.lower(to: bulk.deadline)
        return deadline
    }

    var timing: TagSession.Timing { shared.values }

    private var isConnected: Bool { connectedAt != nil && !isEnded }

    /// Handles all deadlines that have passed.
    mutating func deadlineReached(at now: Instant, _ actions: inout Actions) throws(TagConnectionError) {
        if let due = channel.writeDeadline, due <= now {
            let seconds = timing.write.components.seconds
            throw TagConnectionError(.bluetoothConnectionError, "a write was not confirmed within \(seconds) s")
        }
        if let purpose = channel.expired(at: now) {
            unanswered += 1
            try failed(purpose, .timeout, at: now, &actions)
            probeIfSilent()
            sendNext(at: now, &actions)
        }
        guard isConnected else { return }
        if let due = gear.announcementDeadline, due <= now { gearChanged(to: nil, at: now, &actions) }
        motionDeadlineReached(at: now, &actions)
        repeatTouchModeIfDue(at: now, &actions)
        requestBatteryIfDue(at: now, &actions)
    }

    /// Handles the decision to disconnect, or the end of the link: ends all commands. Values are still handled.
    mutating func end(_ actions: inout Actions) {
        isEnded = true
        let (sent, unsent) = channel.drain()
        if let event = sent?.commandEndAtLinkLoss(isSent: true) { actions.append(.emit(event)) }
        actions += unsent.compactMap { $0.commandEndAtLinkLoss(isSent: false) }.map(TagSession.Action.emit)
        endWaiting(&actions)
        actions += waitingForGear.map { .emit(.commandEnded(token: $0.token, .failure(.notConnected))) }
        waitingForGear = []
        let raw = channel.drainRaw()
        if let token = raw.sent { actions.append(.emit(.commandEnded(token: token, .failure(.linkLost)))) }
        actions += raw.unsent.map { .emit(.commandEnded(token: $0, .failure(.notConnected))) }
    }

    /// Handles the end of the link: packets of which only a part has arrived are lost.
    mutating func linkDown(_ actions: inout Actions) {
        for _ in 0..<channel.dropIncompletePackets() { actions.append(.emit(.fragmentsLost)) }
    }

    /// Handles a new ATT MTU of the link.
    mutating func mtuChanged(to mtu: Int) {
        channel.setMTU(mtu)
    }

    // MARK: Start

    /// Sets the properties of the command characteristic.
    mutating func discovered(_ properties: TagSession.Properties) {
        self.properties = properties
        writesWithResponse = properties.contains(.write)
    }

    /// Starts the protocol, once notifications are enabled.
    mutating func start(at now: Instant, _ actions: inout Actions) {
        report(.initializing(step: 5), &actions)
        channel.enqueue(.hello(), for: .hello, timeout: timing.start)
        sendNext(at: now, &actions)
    }

    /// Restarts the protocol with writes without response, for a tag that does not permit writes with response.
    private mutating func repeatHello(at now: Instant, _ actions: inout Actions) {
        writesWithResponse = false
        extraSteps = 1
        _ = channel.drain()
        channel.enqueue(.hello(), for: .hello, timeout: timing.start)
        sendNext(at: now, &actions)
    }

    private mutating func configure(_ component: Component, _ actions: inout Actions) {
        tag = component
        // From now on the SDK writes without response, with a timeout of 8 s.
        if properties.contains(.writeWithoutResponse) { writesWithResponse = false }
        channel.enqueue(
            .notificationQueueDepth(TouchMode.gesture.notificationQueueDepth), for: .configuration,
            timeout: timing.request)
        report(.initializing(step: 9 + extraSteps), &actions)
        actions.append(.emit(.information(component)))
    }

    private mutating func configured(_ body: Response.Body?, at now: Instant, _ actions: inout Actions) {
        connectedAt = now
        // Only a response with the whole configuration contains the name.
        if case .config(let configuration) = body { tagName = configuration.ble?.customAdvertisedName }
        gear.expect(by: now + timing.gearAnnouncement)
        if let component = gear.component { setUp(component) }
        batteryDue = now + (isBatteryKnown ? timing.batteryInterval : timing.batteryAnnouncement)
        report(.connected, &actions)
    }

    /// Reports the step of a request that is sent.
    private func reportStep(of purpose: RequestPurpose, _ actions: inout Actions) {
        switch purpose {
        case .hello: report(.initializing(step: 6 + extraSteps), &actions)
        case .begin: report(.initializing(step: 7 + extraSteps), &actions)
        case .tagInformation: report(.initializing(step: 8 + extraSteps), &actions)
        case .configuration: report(.configuring(step: 10 + extraSteps), &actions)
        case .gearTouchMode, .gearQueueDepth, .gearInformation, .battery, .probe, .streamEnd, .command: break
        }
    }

    private func report(_ state: TagConnection.State, _ actions: inout Actions) {
        actions.append(.emit(.connection(TagConnection(state: state, attempt: attempt))))
    }

    // MARK: Writes

    /// Sends the next request if no request is in flight and no write is pending.
    mutating func sendNext(at now: Instant, _ actions: inout Actions) {
        guard !isEnded else { return }
        if bulk.keepsEarly, channel.responseDeadline == nil { motionAnswered(at: now, &actions) }
        if let fragment = channel.sendNextRaw(at: now) { return actions.append(.writeRaw(fragment)) }
        guard let (fragment, purpose) = channel.sendNext(at: now, without: bulk.isInTheMiddle ? \.isMotion : nil) else {
            return
        }
        reportStep(of: purpose, &actions)
        if purpose.isFollowedByNotification { bulk.keepEarly() }
        actions.append(.write(fragment, withResponse: writesWithResponse))
    }

    /// Handles the confirmation of a write.
    mutating func written(at now: Instant, _ actions: inout Actions) {
        switch channel.written(at: now) {
        case .unexpected: break
        case .nextFragment(let fragment) where channel.isWritingRaw: actions.append(.writeRaw(fragment))
        case .nextFragment(let fragment): actions.append(.write(fragment, withResponse: writesWithResponse))
        case .rawComplete(let token):
            if let token { actions.append(.emit(.commandEnded(token: token, .success(.done)))) }
            sendNext(at: now, &actions)
        case .complete: sendNext(at: now, &actions)
        }
    }

    /// Handles a failed write, see ``TagSession/writeFailed(_:isNotPermitted:isUnsent:at:)``.
    mutating func writeFailed(
        _ error: TagConnectionError, isNotPermitted: Bool, isUnsent: Bool, at now: Instant, _ actions: inout Actions
    ) throws(TagConnectionError) {
        switch channel.writeFailed() {
        case .unexpected: break
        case .withoutRequest: sendNext(at: now, &actions)
        case .raw(let token):
            // The tag repeats a packet whose acknowledgement it does not receive.
            let failure = TagCommandError.writeFailed(name: error.stackName ?? "", text: error.text)
            if let token { actions.append(.emit(.commandEnded(token: token, .failure(failure)))) }
            sendNext(at: now, &actions)
        case .request(let purpose, _) where isNotPermitted && writesWithResponse && purpose.opensProtocol:
            repeatHello(at: now, &actions)
        case .request(let purpose, let isPartlySent):
            guard isConnected else { throw error }
            channel.removeInFlight()
            let name = error.stackName ?? ""
            // A tag ignores an incomplete packet. After a confirmed fragment, it is unknown whether the tag got the
            // rest.
            let failure: TagCommandError =
                isUnsent && !isPartlySent
                ? .busy(name: name, text: error.text) : .writeFailed(name: name, text: error.text)
            try failed(purpose, failure, at: now, &actions)
            sendNext(at: now, &actions)
        }
    }

    // MARK: Responses

    private mutating func succeeded(
        _ purpose: RequestPurpose, _ body: Response.Body?, at now: Instant, _ actions: inout Actions
    ) throws(TagConnectionError) {
        switch (purpose, body) {
        case (.hello, .hello(let hello)) where hello.isSupported:
            channel.enqueue(.begin(), for: .begin, timeout: timing.start)
        case (.hello, .hello(let hello)):
            throw TagConnectionError(.malformedResponseError, hello.unsupportedVersion)
        case (.begin, .begin): channel.enqueue(.deviceInformationOfTag(), for: .tagInformation, timeout: timing.start)
        case (.tagInformation, .deviceInfo(let information)): configure(information.tagComponent, &actions)
        case (.configuration, let body): configured(body, at: now, &actions)
        case (.gearTouchMode(let mode, let gear), .dataChannel): gearTouchModeSet(mode, gear, at: now, &actions)
        case (.gearQueueDepth(let gear), _): gearQueueDepthSet(gear)
        case (.gearInformation(let gear), .deviceInfo(let information)): describe(gear, information, &actions)
        case (.battery, .batteryStatus(let report)):
            if let status = report.status { batteryReceived(status, at: now, &actions) }
        case (.battery, _), (.probe, _), (.streamEnd, _): break
        case (.command(let token, let step), let body):
            switch commandSucceeded(token, step, body, at: now, &actions) {
            case .success(let response)?: actions.append(.emit(.commandEnded(token: token, .success(response))))
            case .failure(let error)?: try failed(purpose, error, at: now, &actions)
            case nil: break
            }
        case (.hello, _), (.begin, _), (.tagInformation, _), (.gearTouchMode, _), (.gearInformation, _):
            try failed(purpose, .malformedResponse, at: now, &actions)
        }
    }

    private mutating func failed(
        _ purpose: RequestPurpose, _ error: TagCommandError, at now: Instant, _ actions: inout Actions
    ) throws(TagConnectionError) {
        if let (mode, number) = purpose.touchMode, gear.isAttached(number) { gear.failed(error, mode, at: now) }
        switch purpose {
        case .hello, .begin, .tagInformation, .configuration: throw purpose.connectionError(error)
        // Without device information, gear is reported without version and UUID, as in the SDK.
        case .gearTouchMode, .gearQueueDepth, .gearInformation, .battery, .streamEnd: break
        case .probe:
            // Any other value received since the probe also shows that the tag is reachable.
            guard unanswered >= timing.unansweredLimit else { break }
            throw TagConnectionError(.bluetoothConnectionError, "the tag no longer responds")
        case .command(let token, let step):
            // Another client may have unloaded the module: it is looked up again.
            if case .motion = step, error == .status(.unsupported) { bulk.isModuleActive = false }
            switch step {
            case .name where error.leavesEffectUnknown: tagName = nil
            case .motion(.run(.download)): bulk.endDownload()
            // The tag may stream all the same, and would do so until its battery is empty.
            case .motion(.run(.stream)) where error.leavesEffectUnknown:
                channel.enqueue(.motionStop(), for: .streamEnd, timeout: timing.request)
            default: break
            }
            actions.append(.emit(.commandEnded(token: token, .failure(error))))
        }
    }

    // MARK: Commands

    /// Enqueues a command of a connected tag.
    mutating func enqueue(
        _ command: TagCommand, token: UInt64, isFirst: Bool, at now: Instant, _ actions: inout Actions
    ) {
        if case .sendRaw(let packet) = command { return enqueueRaw(packet, token, at: now, &actions) }
        do throws(TagCommandError) {
            let (request, step) = try command.request(in: requestContext)
            if case .touchMode(let mode, _) = step { self.gear.request(mode) }
            channel.enqueue(
                request, for: .command(token: token, step), timeout: timing.request, isFirst: isFirst)
            sendNext(at: now, &actions)
        } catch {
            if error == .gearNotAttached, self.gear.announcementDeadline != nil {
                return waitingForGear.append((command, token, isFirst))
            }
            actions.append(.emit(.commandEnded(token: token, .failure(error))))
        }
    }

    private var requestContext: RequestContext {
        let gear = gear.component
        return RequestContext(
            vendor: tag?.vendor.id, product: tag?.product.id, tagName: tagName, gear: gear?.componentID,
            gearCapabilities: gear?.capabilities ?? [], isMotionModuleActive: bulk.isModuleActive)
    }

    private mutating func enqueueRaw(
        _ packet: [UInt8], _ token: UInt64, at now: Instant, _ actions: inout Actions
    ) {
        guard (1...Fragment.maximumPacketLength).contains(packet.count) else {
            return actions.append(.emit(.commandEnded(token: token, .failure(.invalidParameter))))
        }
        channel.enqueueRaw(packet, token: token)
        sendNext(at: now, &actions)
    }

    /// Handles a successful response to a request of a command.
    ///
    /// - Returns: the command's result; nil if another request follows.
    private mutating func commandSucceeded(
        _ token: UInt64, _ step: CommandStep, _ body: Response.Body?, at now: Instant, _ actions: inout Actions
    ) -> Result<TagCommandResponse, TagCommandError>? {
        switch (step, body) {
        case (.acknowledged, _), (.nameDisconnect, _): return .success(.done)
        case (.battery, .batteryStatus(let report)):
            guard let status = report.status else { return .failure(.malformedResponse) }
            batteryReceived(status, at: now, &actions)
            return .success(.battery(status))
        case (.configValue, .configGet(let response)): return .success(.configValue(response.element?.value))
        case (.modules, .modules(let response)): return .success(.modules(response.modules))
        // A list without an element has no bytes, and may be left out.
        case (.modules, nil): return .success(.modules([]))
        case (.motion(let step), let body): return motionSucceeded(token, step, body, at: now)
        case (.tagInformation, .deviceInfo(let information)):
            let component = information.tagComponent
            tag = component
            actions.append(.emit(.information(component)))
            return .success(.component(component))
        case (.gearInformation(let number), .deviceInfo(let information)):
            describe(number, information, &actions)
            guard let component = gear.component, component.componentID == number else {
                return .failure(.gearNotAttached)
            }
            return .success(.component(component))
        case (.touchMode(let mode, let number), .dataChannel):
            guard gear.isAttached(number) else { return .failure(.gearNotAttached) }
            channel.enqueueNext(
                .notificationQueueDepth(mode.notificationQueueDepth),
                for: .command(token: token, .touchQueueDepth(mode, gear: number)), timeout: timing.request)
            confirm(mode, at: now, &actions)
            return nil
        case (.touchQueueDepth(_, let number), _):
            return gear.isAttached(number) ? .success(.done) : .failure(.gearNotAttached)
        case (.name(let name), _):
            tagName = name
            channel.enqueueNext(
                .disconnect(), for: .command(token: token, .nameDisconnect), timeout: timing.request)
            return nil
        case (.readName, .config(let configuration)):
            tagName = configuration.ble?.customAdvertisedName
            return .success(.name(tagName))
        case (.battery, _), (.configValue, _), (.modules, _), (.tagInformation, _), (.gearInformation, _),
            (.touchMode, _), (.readName, _):
            return .failure(.malformedResponse)
        }
    }

    // MARK: Values from the tag

    /// Handles a value of a characteristic. Raw data is looked at only while it is expected.
    mutating func received(
        _ value: [UInt8], on characteristic: TagCharacteristic, at now: Instant, _ actions: inout Actions
    ) throws(TagConnectionError) {
        unanswered = 0
        var isPacketLost = false
        switch characteristic {
        case .notify:
            let packet = channel.notification(value, isPacketLost: &isPacketLost)
            if isPacketLost { actions.append(.emit(.fragmentsLost)) }
            if let packet { notified(packet, at: now, &actions) }
        case .response:
            let received = channel.response(value, isPacketLost: &isPacketLost)
            if isPacketLost { actions.append(.emit(.fragmentsLost)) }
            guard let (purpose, response) = received else { return }
            switch response.status {
            case _ where response.status != .ok && purpose.isStarted(response.body):
                try succeeded(purpose, response.body, at: now, &actions)
            case .ok: try succeeded(purpose, response.body, at: now, &actions)
            default: try failed(purpose, .status(response.status), at: now, &actions)
            }
            sendNext(at: now, &actions)
        case .rawData: if bulk.readsRawData { rawReceived(value, at: now, &actions) }
        case .command: break
        }
    }

    /// Handles a notification packet. Its bodies identify it, not its domain and opcode, as in both SDKs.
    private mutating func notified(_ packet: ArraySlice<UInt8>, at now: Instant, _ actions: inout Actions) {
        // It may have been a gesture.
        guard let notification = try? Notification.decode(packet) else { return actions.append(.emit(.fragmentsLost)) }
        if !notification.others.isEmpty { othersNotified(notification, at: now, &actions) }
        if let data = notification.dataChannel {
            if let gesture = data.gesture {
                follow(.gesture, at: now, &actions)
                actions.append(.emit(.gesture(gesture)))
            }
            if let touch = data.touch {
                follow(.continuous, at: now, &actions)
                actions.append(.emit(.touch(touch)))
            }
        }
        if let status = notification.batteryStatus?.status { batteryReceived(status, at: now, &actions) }
        if let attached = notification.attached {
            gearChanged(to: attached.gear(in: catalogue), at: now, &actions)
        }
    }

    // MARK: Gear

    /// Replaces the gear catalogue. Attached gear is reported again if its description changes.
    mutating func adopt(_ catalogue: GearCatalogue, _ actions: inout Actions) {
        self.catalogue = catalogue
        if let renamed = gear.adopt(catalogue) { actions.append(.emit(.gear(renamed))) }
    }

    /// Handles attached gear; nil if there is none.
    private mutating func gearChanged(to component: Component?, at now: Instant, _ actions: inout Actions) {
        gear.change(to: component)
        actions.append(.emit(.gear(component)))
        withdrawRequestsToFormerGear(&actions)
        guard isConnected else { return }
        if let component { setUp(component) }
        let waiting = waitingForGear
        waitingForGear = []
        for (command, token, isFirst) in waiting {
            enqueue(command, token: token, isFirst: isFirst, at: now, &actions)
        }
        sendNext(at: now, &actions)
    }

    /// Removes waiting requests for gear that is no longer attached, and all set-up requests, which start again.
    private mutating func withdrawRequestsToFormerGear(_ actions: inout Actions) {
        let gear = gear
        let withdrawn = channel.withdraw { purpose in
            purpose.isGearSetUp || purpose.gear.map { !gear.isAttached($0) } ?? false
        }
        for case .command(let token, _) in withdrawn {
            actions.append(.emit(.commandEnded(token: token, .failure(.gearNotAttached))))
        }
    }

    /// Sets up new gear as the SDK does: gesture mode in two requests, then device information. This includes gear that
    /// is not in the catalogue, because it reports gestures too.
    private mutating func setUp(_ component: Component) {
        gear.request(.gesture)
        requestTouchMode(.gesture, of: component.componentID)
    }

    private mutating func requestTouchMode(_ mode: TouchMode, of number: UInt32) {
        channel.enqueue(
            .touchMode(mode, component: number), for: .gearTouchMode(mode, component: number), timeout: timing.request)
    }

    /// Repeats a request for a touch mode that was not answered.
    private mutating func repeatTouchModeIfDue(at now: Instant, _ actions: inout Actions) {
        guard let (mode, number) = gear.takeDueTouchMode(at: now) else { return }
        requestTouchMode(mode, of: number)
        sendNext(at: now, &actions)
    }

    private mutating func gearTouchModeSet(
        _ mode: TouchMode, _ number: UInt32, at now: Instant, _ actions: inout Actions
    ) {
        guard gear.isAttached(number) else { return }
        channel.enqueueNext(
            .notificationQueueDepth(mode.notificationQueueDepth), for: .gearQueueDepth(component: number),
            timeout: timing.request)
        confirm(mode, at: now, &actions)
    }

    private mutating func gearQueueDepthSet(_ number: UInt32) {
        guard gear.isAttached(number), gear.component?.uuid == nil else { return }
        channel.enqueueNext(
            .deviceInformation(ofGear: number), for: .gearInformation(component: number), timeout: timing.request)
    }

    private mutating func describe(
        _ number: UInt32, _ information: DeviceInfoResponse, _ actions: inout Actions
    ) {
        if let component = gear.describe(number, information) { actions.append(.emit(.gear(component))) }
    }

    private mutating func confirm(_ mode: TouchMode, at now: Instant, _ actions: inout Actions) {
        gear.confirm(mode, at: now)
        actions.append(.emit(.touchMode(mode)))
    }

    private mutating func follow(_ mode: TouchMode, at now: Instant, _ actions: inout Actions) {
        if gear.follow(mode, at: now) { actions.append(.emit(.touchMode(mode))) }
    }

    // MARK: Battery and probe

    /// Handles a battery status, requested or not.
    private mutating func batteryReceived(_ status: BatteryStatus, at now: Instant, _ actions: inout Actions) {
        isBatteryKnown = true
        if isConnected { batteryDue = now + timing.batteryInterval }
        actions.append(.emit(.battery(status)))
    }

    private mutating func requestBatteryIfDue(at now: Instant, _ actions: inout Actions) {
        guard let due = batteryDue, due <= now else { return }
        batteryDue = now + timing.batteryInterval
        channel.enqueue(.batteryStatus(), for: .battery, timeout: timing.request)
        sendNext(at: now, &actions)
    }

    /// Probes a tag after several requests without a response, before any other request is sent: with the device
    /// information, which the tag has given on this link. It may never have answered the requests that were not answered.
    private mutating func probeIfSilent() {
        guard isConnected, unanswered == timing.unansweredLimit else { return }
        channel.enqueueNext(.deviceInformationOfTag(), for: .probe, timeout: timing.probe)
    }
}
