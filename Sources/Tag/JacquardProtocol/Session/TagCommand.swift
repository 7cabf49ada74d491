/// A command to a connected tag.
public enum TagCommand: Equatable, Sendable {
    /// Plays a pattern on the LED of the tag or of its gear.
    case playLEDPattern(LEDPattern, on: Target)
    /// Plays a pattern on the motor of the attached gear.
    case playHaptic(HapticPattern)
    /// Switches the attached gear between gestures and continuous touch.
    case setTouchMode(TouchMode)
    /// Reads the battery status. Responds with ``TagCommandResponse/battery(_:)``.
    case batteryStatus
    /// Reads the device information of the tag or its gear. Responds with ``TagCommandResponse/component(_:)``.
    case deviceInformation(of: Target)
    /// Lists the tag's loadable modules. Responds with ``TagCommandResponse/modules(_:)``.
    case listModules
    /// Changes a module, which is given by its name or its number. Responds with ``TagCommandResponse/modules(_:)``.
    case changeModule(ModuleAction, named: String)
    /// Does something with motion data. The module is loaded if need be, except for its state.
    case motion(MotionGoal)
    /// Writes a packet of 1 to 1,024 bytes to the raw data characteristic. The tag does not respond.
    case sendRaw([UInt8])
    /// Sets the name of the tag: 1 to 21 bytes of UTF-8.
    ///
    /// The session then requests the tag to disconnect. The tag reconnects with the new name.
    case rename(String)
    /// Reads the name of the tag. Responds with ``TagCommandResponse/name(_:)``.
    case readName
    /// Reads a value from the tag's config store. Responds with ``TagCommandResponse/configValue(_:)``.
    ///
    /// Each product of a vendor has its own store. Nil means the tag's own vendor or product.
    case configGet(key: String, vendor: JacquardIdentifier? = nil, product: JacquardIdentifier? = nil)
    /// Writes a value to the tag's config store, see ``configGet(key:vendor:product:)``.
    case configSet(
        key: String, ConfigElement.Value, vendor: JacquardIdentifier? = nil, product: JacquardIdentifier? = nil)
    /// Requests the tag to disconnect after a delay; 0 means at once.
    ///
    /// The tag advertises again, at once or only after it was moved, and the session reconnects it.
    case disconnectTag(timeoutSeconds: UInt32 = 0, reconnectOnlyOnWakeOnMotion: Bool = false)

    /// The component that executes a command.
    public enum Target: Equatable, Sendable, CaseIterable {
        /// The tag itself.
        case tag
        /// The attached gear.
        case gear
    }
}

/// The tag's response to a command that succeeded.
public enum TagCommandResponse: Equatable, Sendable {
    /// Success without a value.
    case done
    /// The current battery status.
    case battery(BatteryStatus)
    /// The current device information of the tag or its gear.
    case component(Component)
    /// The tag's loadable modules.
    case modules([ModuleDescriptor])
    /// The state of motion data.
    case motionStatus(MotionModuleStatus)
    /// The recorded sessions; `isComplete` is false if the tag has not sent the end of the list.
    case motionSessions([StoredMotionSession], isComplete: Bool)
    /// The tag's own name; nil if its settings lack one.
    case name(String?)
    /// The value with its type; nil if the store has no such key.
    case configValue(ConfigElement.Value?)
}

/// Why a command failed. The names are those of the SDK where it has one.
public enum TagCommandError: Error, Equatable, Sendable {
    /// A parameter is out of range, equal to the current value, or too long for a packet. Nothing was sent.
    case invalidParameter
    /// No gear is attached, or it was detached before it executed the command.
    case gearNotAttached
    /// The component has no LED. Nothing was sent.
    case componentDoesNotSupportPlayLEDPattern
    /// The component has no motor. Nothing was sent.
    case componentDoesNotSupportPlayHaptic
    /// The component does not support the touch mode. Nothing was sent.
    case componentDoesNotSupportTouchMode
    /// The tag is not connected. Nothing was sent.
    case notConnected
    /// The command was sent, but no response was received in time. The effect is unknown.
    case timeout
    /// The command was sent, but the link was lost before the response. The effect is unknown.
    case linkLost
    /// The write failed. The values are the error name and text of the Bluetooth stack.
    case writeFailed(name: String, text: String)
    /// The Bluetooth stack was too busy. Nothing was sent. The values are the error name and text of the stack.
    case busy(name: String, text: String)
    /// The tag rejected the command with this status.
    case status(Status)
    /// The tag does not have the module. The value is its name or number.
    case moduleMissing(String)
    /// The tag has not loaded the module.
    case moduleNotLoaded(Status)
    /// The state of motion data does not allow the command.
    case motionState(MotionStatus)
    /// The response lacks a required field.
    case malformedResponse

    /// Whether the tag may have carried the command out.
    public var leavesEffectUnknown: Bool {
        switch self {
        case .timeout, .linkLost, .writeFailed, .malformedResponse: true
        default: false
        }
    }
}
