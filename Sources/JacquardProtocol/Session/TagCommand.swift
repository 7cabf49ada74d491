/// What a connected tag can be asked to do.
public enum TagCommand: Hashable, Sendable {
    /// Plays a pattern on the LED of the tag or of its gear.
    case playLEDPattern(LEDPattern, on: Target)
    /// Plays a pattern on the motor of the attached gear.
    case playHaptic(HapticPattern)
    /// Switches the attached gear between gestures and continuous touch.
    case setTouchMode(TouchMode)
    /// Reads the battery.
    case batteryStatus

    /// Which component a command is for.
    public enum Target: Hashable, Sendable, CaseIterable {
        /// The tag itself.
        case tag
        /// The attached gear.
        case gear
    }
}

/// What a tag answered to a command that it carried out.
public enum TagCommandAnswer: Hashable, Sendable {
    /// It did so; there is nothing more to say.
    case done
    /// The battery as it is now.
    case battery(BatteryStatus)
}

/// Why a command has no answer. The names are those of the SDK where it has one.
public enum TagCommandError: Error, Hashable, Sendable {
    /// No gear is attached; nothing was sent.
    case gearNotAttached
    /// The component lacks the LED; nothing was sent.
    case componentDoesNotSupportPlayLEDPattern
    /// The component lacks the motor; nothing was sent.
    case componentDoesNotSupportPlayHaptic
    /// The component does not recognise touches; nothing was sent.
    case componentDoesNotSupportTouchMode
    /// The tag is not connected; nothing was sent.
    case notConnected
    /// Sent, and no answer came in time: the effect is not known.
    case timeout
    /// Sent, and the link broke before an answer: the effect is not known.
    case linkLost
    /// The link refused to carry it: name and text of the Bluetooth stack.
    case writeFailed(name: String, text: String)
    /// The tag refused.
    case status(Status)
    /// The answer lacks what it must hold.
    case malformedResponse
}
