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
