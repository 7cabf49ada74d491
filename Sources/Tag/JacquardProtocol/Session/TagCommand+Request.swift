/// The facts that the request of a command depends on.
struct RequestContext {
    /// The tag's vendor and product; nil until they were received.
    var vendor: JacquardIdentifier?
    var product: JacquardIdentifier?
    /// The tag's name; nil until it was received.
    var tagName: String?
    /// The number of the attached gear; nil if there is none.
    var gear: UInt32?
    /// The capabilities of the attached gear.
    var gearCapabilities: Set<Capability> = []
    /// Whether the motion module is known to be active.
    var isMotionModuleActive = false
}

extension TagCommand {
    /// Returns the first request of the command.
    ///
    /// - Parameter context: the tag and its gear.
    /// - Returns: the request, and the step of the command that it performs.
    /// - Throws: ``TagCommandError`` if the tag or its gear cannot execute the command, or a parameter is invalid.
    func request(in context: @autoclosure () -> RequestContext) throws(TagCommandError) -> (Request, CommandStep) {
        let (request, step) = try uncheckedRequest(in: context)
        let longestID = RequestQueue<RequestPurpose>.maximumID
        guard isAlwaysShort || request.encoded(id: longestID).count <= Fragment.maximumPacketLength else {
            throw .invalidParameter
        }
        return (request, step)
    }

    /// Whether the request fits into a packet whatever its parameters are. Patterns of many frames, keys and texts can
    /// exceed the longest packet.
    private var isAlwaysShort: Bool {
        switch self {
        case .playLEDPattern(let pattern, on: _): pattern.frames.count <= 1
        case .playHaptic, .setTouchMode, .batteryStatus, .readName, .deviceInformation, .listModules, .disconnectTag,
            .changeModule:
            true
        case .motion, .sendRaw, .rename, .configGet, .configSet: false
        }
    }

    private func uncheckedRequest(in context: () -> RequestContext) throws(TagCommandError) -> (Request, CommandStep) {
        switch self {
        // Every tag has an LED.
        case .playLEDPattern(let pattern, on: .tag): return (.playLEDOnTag(pattern), .acknowledged(gear: nil))
        case .playLEDPattern(let pattern, on: .gear):
            let gear = try context().gear(with: .led, or: .componentDoesNotSupportPlayLEDPattern)
            return (.playLED(pattern, onGear: gear), .acknowledged(gear: gear))
        case .playHaptic(let pattern):
            let gear = try context().gear(with: .haptic, or: .componentDoesNotSupportPlayHaptic)
            return (.playHaptic(pattern, component: gear), .acknowledged(gear: gear))
        case .setTouchMode(let mode):
            let capability: Capability = mode == .gesture ? .gesture : .touchDataStream
            let gear = try context().gear(with: capability, or: .componentDoesNotSupportTouchMode)
            return (.touchMode(mode, component: gear), .touchMode(mode, gear: gear))
        case .batteryStatus: return (.batteryStatus(), .battery)
        case .deviceInformation(of: .tag): return (.deviceInformationOfTag(), .tagInformation)
        case .deviceInformation(of: .gear):
            guard let gear = context().gear else { throw .gearNotAttached }
            return (.deviceInformation(ofGear: gear), .gearInformation(gear: gear))
        case .listModules: return (.listModules(), .modules)
        case .changeModule(let action, let name): return (.listModules(), .motion(.moduleLookup(action, name: name)))
        case .motion(let goal): return try context().first(of: goal)
        // Not a request: the link writes it to another characteristic.
        case .sendRaw: throw .invalidParameter
        case .rename(let name):
            guard context().isNewName(name) else { throw .invalidParameter }
            return (.rename(name), .name(name))
        case .readName: return (.configRead(), .readName)
        case .configGet(let key, let vendor, let product):
            let (vendor, product) = context().store(vendor, product)
            return (.configGet(vendor: vendor, product: product, key: key), .configValue)
        case .configSet(let key, let value, let vendor, let product):
            let (vendor, product) = context().store(vendor, product)
            let element = ConfigElement(key: key, value: value)
            return (.configSet(vendor: vendor, product: product, element), .acknowledged(gear: nil))
        case .disconnectTag(let seconds, let onlyOnMotion):
            let request = Request.disconnect(timeoutSeconds: seconds, reconnectOnlyOnWakeOnMotion: onlyOnMotion)
            return (request, .acknowledged(gear: nil))
        }
    }
}

extension RequestContext {
    fileprivate func gear(
        with capability: Capability, or error: TagCommandError
    ) throws(TagCommandError) -> UInt32 {
        guard let gear else { throw .gearNotAttached }
        guard gearCapabilities.contains(capability) else { throw error }
        return gear
    }

    /// The first request of a goal: the list of modules, unless the module is known to be active.
    fileprivate func first(of goal: MotionGoal) throws(TagCommandError) -> (Request, CommandStep) {
        if case .record(let id, _) = goal, !id.isValid { throw .invalidParameter }
        switch goal {
        case .stop where isMotionModuleActive, .sessions where isMotionModuleActive, .erase where isMotionModuleActive:
            return (goal.request, .motion(.run(goal)))
        case .record where isMotionModuleActive, .stream where isMotionModuleActive:
            return (goal.request, .motion(.check(goal)))
        // A download begins with its own step.
        default: return (.listModules(), .motion(.lookup(goal)))
        }
    }

    /// Whether a name is valid and differs from the current one in its UTF-8 bytes.
    fileprivate func isNewName(_ name: String) -> Bool {
        let isPresent = tagName.map { $0.utf8.elementsEqual(name.utf8) } ?? false
        return BLEConfiguration.nameByteCounts.contains(name.utf8.count) && !isPresent
    }

    /// Returns the vendor and product of a config store; the tag's own where nil is given.
    fileprivate func store(
        _ vendor: JacquardIdentifier?, _ product: JacquardIdentifier?
    ) -> (vendor: JacquardIdentifier, product: JacquardIdentifier) {
        (vendor ?? self.vendor ?? .google, product ?? self.product ?? .tag)
    }
}
