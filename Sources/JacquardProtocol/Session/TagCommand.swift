/// What a connected tag can be asked to do.
public enum TagCommand: Hashable, Sendable {
    /// Plays a pattern on the LED of the tag or of its gear.
    case playLEDPattern(LEDPattern, on: Target)
    /// Plays a pattern on the motor of the attached gear.
    case playHaptic(HapticPattern)
    /// Switches the attached gear between gestures and continuous touch.
    case setTouchMode(TouchMode)
    /// Reads the battery; answered by ``TagCommandAnswer/battery(_:)``.
    case batteryStatus
    /// Reads what the tag or its gear is; answered by ``TagCommandAnswer/component(_:)``.
    case deviceInformation(of: Target)
    /// Gives the tag another name, of 1 to 21 bytes of UTF-8.
    ///
    /// The tag is then asked to disconnect, and comes back by itself with the new name.
    case rename(String)
    /// Reads a value of the tag's store; answered by ``TagCommandAnswer/configValue(_:)``.
    ///
    /// The store is that of a vendor's product; nil stands for the number that the tag itself has.
    case configGet(key: String, vendor: JacquardIdentifier? = nil, product: JacquardIdentifier? = nil)
    /// Writes a value of the tag's store, see ``configGet(key:vendor:product:)``.
    case configSet(
        key: String, ConfigElement.Value, vendor: JacquardIdentifier? = nil, product: JacquardIdentifier? = nil)
    /// Asks the tag to drop the link after some seconds, 0 being now.
    ///
    /// It comes back by itself, at once or only after it was moved, and the session connects it again.
    case disconnectTag(timeoutSeconds: UInt32 = 0, reconnectOnlyOnWakeOnMotion: Bool = false)

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
    /// The tag or its gear as it describes itself now.
    case component(Component)
    /// The value with its type; nil where the store has none under the key.
    case configValue(ConfigElement.Value?)
}
