extension TagSession {
    /// What a request is for.
    enum Purpose: Hashable, Sendable {
        case hello
        case begin
        case tagInformation
        case configuration
        /// Touch mode of gear that has just been attached: its two requests.
        case gearTouchMode(component: UInt32)
        case gearQueueDepth(component: UInt32)
        /// Version and serial number of that gear.
        case gearInformation(component: UInt32)
        /// The battery, which the tag has not announced or not for long.
        case battery
        /// A sign of life from a tag that leaves requests without an answer.
        case probe
        /// A command of the user.
        case command(token: UInt64, CommandStep)

        /// Whether it belongs to the beginning that is repeated without response where the tag takes nothing else.
        var opensProtocol: Bool {
            switch self {
            case .hello, .begin, .tagInformation: true
            default: false
            }
        }

        /// Whether it belongs to what is done with gear that has just been attached.
        var isGearSetUp: Bool {
            switch self {
            case .gearTouchMode, .gearQueueDepth, .gearInformation: true
            default: false
            }
        }

        /// The number of the gear that it is for; nil if it is for the tag.
        var gear: UInt32? {
            switch self {
            case .gearTouchMode(let gear), .gearQueueDepth(let gear), .gearInformation(let gear): gear
            case .command(_, let step): step.gear
            case .hello, .begin, .tagInformation, .configuration, .battery, .probe: nil
            }
        }
    }

    /// What the answer to a request of a command has to hold, and what follows.
    enum CommandStep: Hashable, Sendable {
        /// Success, from the tag or from gear.
        case acknowledged(gear: UInt32?)
        case battery
        case tagInformation
        case gearInformation(gear: UInt32)
        case configValue
        /// The first half of a change of touch mode, and the second.
        case touchMode(TouchMode, gear: UInt32)
        case touchQueueDepth(TouchMode, gear: UInt32)
        /// The first half of renaming, and the second: the tag advertises its new name after a disconnection.
        case name(String)
        case nameDisconnect

        /// The number of the gear that it is for; nil if it is for the tag.
        var gear: UInt32? {
            switch self {
            case .acknowledged(let gear): gear
            case .gearInformation(let gear), .touchMode(_, let gear), .touchQueueDepth(_, let gear): gear
            case .battery, .tagInformation, .configValue, .name, .nameDisconnect: nil
            }
        }
    }
}
