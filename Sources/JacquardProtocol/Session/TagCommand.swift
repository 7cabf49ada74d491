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

/// Why a command has no answer. The names are those of the SDK where it has one.
public enum TagCommandError: Error, Hashable, Sendable {
    /// A parameter is out of its range, is what it is already, or is too long for a packet; nothing was sent.
    case invalidParameter
    /// No gear is attached, or it was detached before it could do so.
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
    /// The Bluetooth stack was too busy to send it, and nothing was sent: name and text of the stack.
    case busy(name: String, text: String)
    /// The tag refused.
    case status(Status)
    /// The answer lacks what it must hold.
    case malformedResponse
}
