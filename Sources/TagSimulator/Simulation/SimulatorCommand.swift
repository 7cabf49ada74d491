/// What a person types at a running simulator.
public enum SimulatorCommand: Hashable, Sendable {
    /// Does something with tags.
    case tags(TagSelection, TagAction)
    /// Switches an adapter on or off; nil stands for all of them.
    case adapter(isOn: Bool, number: Int?)
    /// Lets tags forget their bonds with the host, which keeps its half.
    case loseBond(TagSelection)
    /// Pulls an adapter out of the machine or plugs it in.
    case plug(isIn: Bool, number: Int)
    /// Lets `org.bluez` make trouble.
    case trouble(BlueZTrouble)
    /// Lets bluetoothd crash and come back after a while.
    case crashBlueZ(Duration)
    /// Shows the tags.
    case list
    /// Shows the commands.
    case help
    /// Ends the simulator.
    case quit
}

/// Which tags a command is for.
public enum TagSelection: Hashable, Sendable {
    /// All of them.
    case all
    /// The one with this serial; several may have it.
    case serial(String)
    /// The one at this address.
    case address(String)
}

/// What can be done with a tag.
public enum TagAction: Hashable, Sendable {
    /// Gestures or touches.
    case play(Burst)
    /// Another battery level; charging stays as it is where nil.
    case battery(level: UInt8, isCharging: Bool?)
    /// Into gear.
    case attach(SimulatedGear)
    /// Out of it.
    case detach
    /// Out of range, or back.
    case range(isIn: Bool)
    /// Asleep, until the button is pressed.
    case sleep
    /// The button, which wakes it.
    case button
    /// Another fault in its answers; nil for none.
    case fault(Faults.AnswerFault?, isOnce: Bool)
    /// Whether writes with response are refused.
    case refusesWrites
}

/// A command that cannot be carried out: a sentence that names what is allowed.
public struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
