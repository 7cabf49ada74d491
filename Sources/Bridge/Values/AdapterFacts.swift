/// What is true of one Bluetooth adapter of this host.
public struct AdapterFacts: Hashable, Sendable {
    /// The states of Apple's central manager, which users of the SDK know.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Not told yet.
        case unknown
        /// On its way to another state.
        case resetting
        /// It cannot do Bluetooth LE.
        case unsupported
        /// The bridge may not use it.
        case unauthorized
        /// Off.
        case poweredOff = "powered_off"
        /// Ready.
        case poweredOn = "powered_on"

        /// The state for a sentence.
        var text: String { rawValue.asWords }
    }

    /// The adapter's name on this host, such as `hci0`.
    public var id: String
    /// Its Bluetooth address; nil when not known.
    public var address: String?
    /// Its state.
    public var state: State
    /// Whether it is scanning.
    public var isDiscovering: Bool
    /// How many devices are connected through it.
    public var connectedCount: Int
    /// Whether it has heard nothing for long although it is scanning, and scanning anew did not help.
    public var isSilent: Bool

    /// Describes an adapter.
    public init(
        id: String,
        address: String?,
        state: State,
        isDiscovering: Bool = false,
        connectedCount: Int = 0,
        isSilent: Bool = false
    ) {
        self.id = id
        self.address = address
        self.state = state
        self.isDiscovering = isDiscovering
        self.connectedCount = connectedCount
        self.isSilent = isSilent
    }
}
