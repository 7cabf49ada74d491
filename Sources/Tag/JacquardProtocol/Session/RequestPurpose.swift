/// The purpose of a request.
enum RequestPurpose: Equatable, Sendable {
    case hello
    case begin
    case tagInformation
    case configuration
    /// The first of two requests that set the touch mode of new gear, or repeat a change that was not answered.
    case gearTouchMode(TouchMode, component: UInt32)
    case gearQueueDepth(component: UInt32)
    /// Version and serial number of new gear.
    case gearInformation(component: UInt32)
    /// The battery status, if the tag has not reported it recently.
    case battery
    /// Checks whether a tag that does not respond is still reachable.
    case probe
    /// Ends a stream that may have begun although its start was not answered.
    case streamEnd
    /// A request of a command.
    case command(token: UInt64, CommandStep)

    /// Whether the request is part of the protocol start. The start is repeated with writes without response if the tag
    /// permits no others.
    var opensProtocol: Bool {
        switch self {
        case .hello, .begin, .tagInformation: true
        default: false
        }
    }

    /// Whether the request is part of the set-up of new gear.
    var isGearSetUp: Bool {
        switch self {
        case .gearTouchMode, .gearQueueDepth, .gearInformation: true
        default: false
        }
    }

    /// The touch mode that it requests, and the gear; nil if it requests none.
    var touchMode: (mode: TouchMode, gear: UInt32)? {
        switch self {
        case .gearTouchMode(let mode, let gear), .command(_, .touchMode(let mode, let gear)): (mode, gear)
        default: nil
        }
    }

    /// The number of the gear that it is for; nil if it is for the tag.
    var gear: UInt32? {
        switch self {
        case .gearTouchMode(_, let gear), .gearQueueDepth(let gear), .gearInformation(let gear): gear
        case .command(_, let step): step.gear
        case .hello, .begin, .tagInformation, .configuration, .battery, .probe, .streamEnd: nil
        }
    }

    /// Whether it is a request about modules or motion data.
    var isMotion: Bool {
        if case .command(_, .motion) = self { true } else { false }
    }

    /// Whether the result comes as a notification after the response.
    var isFollowedByNotification: Bool {
        switch self {
        case .command(_, .motion(.moduleChange(.activate, _))), .command(_, .motion(.load)),
            .command(_, .motion(.run(.sessions))), .command(_, .motion(.run(.erase))):
            true
        default: false
        }
    }

    /// Whether the response means success whatever its status is.
    func isStarted(_ body: Response.Body?) -> Bool {
        guard case .command(_, .motion(let step)) = self else { return false }
        return step.isStarted(body)
    }

    /// Returns the error of the connection after a request of the start or the configuration has failed.
    func connectionError(_ error: TagCommandError) -> TagConnectionError {
        let name =
            switch self {
            case .hello: "hello"
            case .begin: "begin"
            case .tagInformation: "the request for device information"
            default: "the configuration"
            }
        return switch error {
        case .timeout: TagConnectionError(.jacquardInitializationError, "the tag does not answer \(name)")
        case .status(let status):
            TagConnectionError(.jacquardInitializationError, "the tag answers \(name) with \(status)")
        default: TagConnectionError(.malformedResponseError, "the tag's answer to \(name) cannot be used")
        }
    }

    /// Ends the command of the request after the loss of the link.
    ///
    /// - Parameter isSent: whether the request was in flight.
    /// - Returns: the event to report; nil if the request is not part of a command.
    func commandEndAtLinkLoss(isSent: Bool) -> TagEvent? {
        guard case .command(let token, let step) = self else { return nil }
        let result: Result<TagCommandResponse, TagCommandError> =
            switch step {
            // The tag has confirmed its name and was expected to disconnect.
            case .nameDisconnect: .success(.done)
            // The first half of the command was sent.
            case .touchQueueDepth: .failure(.linkLost)
            default: .failure(isSent ? .linkLost : .notConnected)
            }
        return .commandEnded(token: token, result)
    }
}

/// The step of a command: which response its request expects, and what follows.
enum CommandStep: Equatable, Sendable {
    /// A response without a value, from the tag or its gear.
    case acknowledged(gear: UInt32?)
    case battery
    case tagInformation
    case gearInformation(gear: UInt32)
    case configValue
    case modules
    /// A request about modules or motion data.
    case motion(MotionStep)
    /// The two halves of a change of the touch mode.
    case touchMode(TouchMode, gear: UInt32)
    case touchQueueDepth(TouchMode, gear: UInt32)
    /// The two halves of renaming: the tag advertises its new name only after a disconnection.
    case name(String)
    case nameDisconnect
    /// The settings of the tag, which contain its name.
    case readName

    /// The number of the gear that it is for; nil if it is for the tag.
    var gear: UInt32? {
        switch self {
        case .acknowledged(let gear): gear
        case .gearInformation(let gear), .touchMode(_, let gear), .touchQueueDepth(_, let gear): gear
        case .battery, .tagInformation, .configValue, .modules, .motion, .name, .nameDisconnect, .readName: nil
        }
    }
}
