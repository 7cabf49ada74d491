import Time

/// The steps of a command about modules and motion data.
indirect enum MotionStep: Equatable, Sendable {
    /// The list of modules before a change of one.
    case moduleLookup(ModuleAction, name: String)
    /// The change of a module.
    case moduleChange(ModuleAction, ModuleDescriptor)
    /// The list of modules before anything with motion data.
    case lookup(MotionGoal)
    /// Loading the motion module.
    case load(MotionGoal)
    /// The state before a recording or a stream.
    case check(MotionGoal)
    /// The rates before a recording or a stream.
    case rates(MotionGoal)
    /// The last request.
    case run(MotionGoal)

    /// Whether the response means success whatever its status is: the SDKs ignore the status after a start.
    func isStarted(_ body: Response.Body?) -> Bool {
        switch self {
        case .run(.record), .run(.stream): body == .motionStart(MotionStatusResponse(.logging))
        default: false
        }
    }
}

extension TagLink {
    /// Handles a successful response to a request about modules or motion data.
    ///
    /// - Returns: the command's result; nil if another request or a notification follows.
    mutating func motionSucceeded(
        _ token: UInt64, _ step: MotionStep, _ body: Response.Body?, at now: Instant
    ) -> Result<TagCommandResponse, TagCommandError>? {
        switch (step, body) {
        case (.moduleLookup(let action, let name), _):
            guard let modules = Self.modules(body) else { return .failure(.malformedResponse) }
            return change(action, name, of: modules, token, at: now)
        case (.moduleChange(.activate, let module), _): return wait(token, for: .loading(module, then: nil), at: now)
        case (.moduleChange(_, let module), _):
            if module.isSameModule(as: .motion) { motionModuleGone() }
            enqueueNext(.listModules(), .modules, token)
            return nil
        case (.lookup(let goal), _):
            guard let modules = Self.modules(body) else { return .failure(.malformedResponse) }
            return found(modules.first { $0.isSameModule(as: .motion) }, for: goal, token)
        case (.load(let goal), _): return wait(token, for: .loading(.motion, then: goal), at: now)
        case (.check(let goal), .motionStatus(let response)):
            guard let status = response.status else { return .failure(.malformedResponse) }
            if goal == .status { return .success(.motionStatus(MotionModuleStatus(module: .active, status: status))) }
            guard status == .idle, let rates = goal.rates else { return .failure(.motionState(status)) }
            enqueueNext(.motionRates(rates), .motion(.rates(goal)), token)
            return nil
        case (.rates(let goal), _):
            guard let metadata = goal.metadata(at: now) else { return .failure(.malformedResponse) }
            enqueueNext(.motionStart(metadata), .motion(.run(goal)), token)
            return nil
        case (.run(let goal), let body): return ended(goal, body, token, at: now)
        case (.check, _): return .failure(.malformedResponse)
        }
    }

    /// A list without an element has no bytes, and may be left out.
    private static func modules(_ body: Response.Body?) -> [ModuleDescriptor]? {
        switch body {
        case .modules(let response): response.modules
        case nil: []
        default: nil
        }
    }

    private mutating func enqueueNext(_ request: Request, _ step: CommandStep, _ token: UInt64) {
        channel.enqueueNext(request, for: .command(token: token, step), timeout: timing.request)
    }

    private mutating func change(
        _ action: ModuleAction, _ name: String, of modules: [ModuleDescriptor], _ token: UInt64, at now: Instant
    ) -> Result<TagCommandResponse, TagCommandError>? {
        if let motion = modules.first(where: { $0.isSameModule(as: .motion) }) {
            bulk.isModuleActive = motion.isEnabled == true
        }
        guard let module = modules.first(where: { $0.name == name || $0.moduleID?.description == name }) else {
            return .failure(.moduleMissing(name))
        }
        switch action {
        case .activate where module.isEnabled == true, .deactivate where module.isEnabled == false:
            return .success(.modules(modules))
        case .activate: enqueueNext(.loadModule(module), .motion(.moduleChange(action, module)), token)
        case .deactivate: enqueueNext(.unloadModule(module), .motion(.moduleChange(action, module)), token)
        case .delete: enqueueNext(.deleteModule(module), .motion(.moduleChange(action, module)), token)
        }
        return nil
    }

    private mutating func motionModuleGone() {
        bulk.isModuleActive = false
        bulk.isStreaming = false
        bulk.endDownload()
    }

    private mutating func wait(
        _ token: UInt64, for what: BulkState.Waiting, at now: Instant
    ) -> Result<TagCommandResponse, TagCommandError>? {
        bulk.wait(token, for: what, at: now)
        return nil
    }

    // MARK: Motion data

    private mutating func found(
        _ module: ModuleDescriptor?, for goal: MotionGoal, _ token: UInt64
    ) -> Result<TagCommandResponse, TagCommandError>? {
        guard let module else {
            guard goal == .status else { return .failure(.moduleMissing(ModuleDescriptor.motion.name ?? "")) }
            return .success(.motionStatus(MotionModuleStatus(module: .missing, status: nil)))
        }
        if module.isEnabled == true {
            bulk.isModuleActive = true
            return proceed(to: goal, token)
        }
        bulk.isModuleActive = false
        switch goal {
        // Nothing runs without the module.
        case .status, .stop: return .success(.motionStatus(MotionModuleStatus(module: .inactive, status: nil)))
        default:
            enqueueNext(.loadModule(module), .motion(.load(goal)), token)
            return nil
        }
    }

    /// Sends the request that follows once the module is active.
    private mutating func proceed(
        to goal: MotionGoal, _ token: UInt64
    ) -> Result<TagCommandResponse, TagCommandError>? {
        let step: MotionStep =
            switch goal {
            case .status, .activate, .record, .stream: .check(goal == .activate ? .status : goal)
            case .stop, .sessions, .download, .erase: .run(goal)
            }
        if case .download = goal { bulk.beginDownload() }
        enqueueNext(goal.request, .motion(step), token)
        return nil
    }

    private mutating func ended(
        _ goal: MotionGoal, _ body: Response.Body?, _ token: UInt64, at now: Instant
    ) -> Result<TagCommandResponse, TagCommandError>? {
        switch (goal, body) {
        case (.record, .motionStart(let response)), (.stream, .motionStart(let response)):
            guard response.status == .logging else {
                return .failure(response.status.map(TagCommandError.motionState) ?? .malformedResponse)
            }
            if case .stream = goal { bulk.isStreaming = true }
            return .success(.motionStatus(MotionModuleStatus(module: .active, status: .logging)))
        case (.stop, .motionStop(let response)):
            bulk.isStreaming = false
            bulk.endDownload()
            return .success(.motionStatus(MotionModuleStatus(module: .active, status: response.status ?? .idle)))
        case (.sessions, .motionSessionList): return wait(token, for: .listing(MotionSessionList()), at: now)
        case (.download, .motionDownload(let response)):
            guard let status = response.status, status.rawValue > MotionStatus.erasing.rawValue else {
                return .success(.done)
            }
            bulk.endDownload()
            return .failure(.motionState(status))
        case (.erase, .motionErase), (.erase, .motionEraseAll): return wait(token, for: .erasing, at: now)
        default: return .failure(.malformedResponse)
        }
    }

    /// Handles the bodies that no other part of the session knows. One that may end a command about modules or motion data waits for the
    /// response to its request.
    mutating func othersNotified(_ notification: Notification, at now: Instant, _ actions: inout Actions) {
        if notification.isAboutMotion, bulk.keep(notification) { return }
        handle(notification, at: now, &actions)
    }

    /// Handles the notifications that have arrived before the response to a request, which has now arrived or failed.
    mutating func motionAnswered(at now: Instant, _ actions: inout Actions) {
        for notification in bulk.takeEarly() { handle(notification, at: now, &actions) }
    }

    /// Ends the commands that wait for a body, and reports the bodies that none has waited for.
    private mutating func handle(_ notification: Notification, at now: Instant, _ actions: inout Actions) {
        var rest = notification
        if let module = rest.module, moduleLoaded(module, at: now, &actions) { rest.module = nil }
        if let session = rest.session, listed(session, at: now, &actions) { rest.session = nil }
        if let error = rest.error {
            let token = bulk.takeErasing()
            if let token {
                let status = MotionStatus(rawValue: error.errorCode)
                end(token, status == .idle ? .success(.done) : .failure(.motionState(status)), &actions)
            }
            // Nothing else is known to report errors.
            if token != nil || !bulk.isModuleActive { rest.error = nil }
        }
        if !rest.others.isEmpty { actions.append(.emit(.notified(rest))) }
    }

    /// - Returns: whether a command has waited for it.
    private mutating func moduleLoaded(
        _ loaded: LoadModuleNotification, at now: Instant, _ actions: inout Actions
    ) -> Bool {
        let waiters = bulk.take { waiter in
            guard case .loading(let module, _) = waiter.what else { return false }
            return loaded.module?.isSameModule(as: module) ?? true
        }
        for waiter in waiters {
            guard case .loading(let module, let goal) = waiter.what else { continue }
            guard loaded.status == .ok else {
                let error = TagCommandError.moduleNotLoaded(loaded.status ?? Status(rawValue: 255))
                end(waiter.token, .failure(error), &actions)
                continue
            }
            if module.isSameModule(as: .motion) { bulk.isModuleActive = true }
            if let goal {
                _ = proceed(to: goal, waiter.token)
            } else {
                enqueueNext(.listModules(), .modules, waiter.token)
            }
        }
        if !waiters.isEmpty { sendNext(at: now, &actions) }
        return !waiters.isEmpty
    }

    /// - Returns: whether a command has waited for it.
    private mutating func listed(_ entry: MotionSessionEntry, at now: Instant, _ actions: inout Actions) -> Bool {
        guard let waiter = bulk.listed(entry, at: now) else { return false }
        if let list = waiter.list {
            end(waiter.token, .success(.motionSessions(list.sessions, isComplete: list.isComplete)), &actions)
            sendNext(at: now, &actions)
        }
        return true
    }

    /// Ends the commands whose notification has not arrived.
    mutating func motionDeadlineReached(at now: Instant, _ actions: inout Actions) {
        for waiter in bulk.take(where: { $0.deadline <= now }) {
            if case .listing(let list) = waiter.what {
                end(waiter.token, .success(.motionSessions(list.sessions, isComplete: false)), &actions)
            } else {
                end(waiter.token, .failure(.timeout), &actions)
            }
            sendNext(at: now, &actions)
        }
    }

    /// Ends the commands that wait for a notification, after the loss of the link.
    mutating func endWaiting(_ actions: inout Actions) {
        for waiter in bulk.take(where: { _ in true }) { end(waiter.token, .failure(.linkLost), &actions) }
    }

    private func end(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, _ actions: inout Actions
    ) {
        actions.append(.emit(.commandEnded(token: token, result)))
    }

    /// Handles a value of the raw data characteristic.
    mutating func rawReceived(_ value: [UInt8], at now: Instant, _ actions: inout Actions) {
        let (events, acknowledgement) = bulk.received(value)
        actions += events.map(TagSession.Action.emit)
        guard let acknowledgement else { return }
        channel.enqueueRaw(acknowledgement, token: nil)
        sendNext(at: now, &actions)
    }
}

extension MotionGoal {
    /// The rates of a recording or a stream.
    var rates: MotionRates? {
        switch self {
        case .record(_, let rates), .stream(let rates): rates
        default: nil
        }
    }

    /// The data that a recording or a stream collects. The tag knows a stream by a text, which is another one each time.
    func metadata(at now: Instant) -> MotionMetadata? {
        switch self {
        case .record(let id, _): MotionMetadata(id, mode: .store)
        case .stream:
            MotionMetadata(
                MotionSessionID(session: "stream-\(now.sinceBoot.milliseconds)"), mode: .stream, sensors: [0])
        default: nil
        }
    }

    /// The request that follows once the module is active.
    var request: Request {
        switch self {
        case .status, .activate, .record, .stream: .motionStatus()
        case .stop: .motionStop()
        case .sessions: .motionSessionList()
        case .download(let id, let offset): .motionDownload(id, offset: offset)
        case .erase(let id?): .motionErase(id)
        case .erase(nil): .motionEraseAll()
        }
    }
}
