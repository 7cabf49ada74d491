public import FakeBlueZ
public import FakeProxy
public import TagFirmware

/// A command that is typed at a running simulator.
public enum SimulatorCommand: Hashable, Sendable {
    /// Does something with tags.
    case tags(TagSelection, TagAction)
    /// Switches an adapter on or off; nil stands for all of them.
    case adapter(isOn: Bool, number: Int?)
    /// Lets tags forget their bonds with the host, which keeps its half.
    case loseBond(TagSelection)
    /// Pulls an adapter out of the machine or plugs it in.
    case plug(isIn: Bool, number: Int)
    /// Injects a fault of `org.bluez`.
    case blueZFault(BlueZFault)
    /// Injects a fault of the ESPHome proxy.
    case proxyFault(ProxyFault)
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

/// A command that cannot be carried out: a sentence that names what is allowed.
public struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
