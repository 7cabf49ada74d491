/// The state of one Bluetooth adapter of this host.
public struct AdapterFacts: Equatable, Sendable {
    /// The states of Apple's central manager, which the SDK uses.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Not reported yet.
        case unknown
        /// Changing to another state.
        case resetting
        /// Does not support Bluetooth LE.
        case unsupported
        /// The bridge has no permission to use it.
        case unauthorized
        /// Powered off.
        case poweredOff = "powered_off"
        /// Ready.
        case poweredOn = "powered_on"

        /// Whether it becomes another state without anybody's help.
        var isTransient: Bool { self == .resetting || self == .unknown }

        /// The state for texts.
        var text: String { rawValue.asWords }
    }

    /// The adapter's name on this host, such as `hci0`.
    public var id: String
    /// Its Bluetooth address; nil if unknown.
    public var address: String?
    /// Its state.
    public var state: State
    /// Whether it is scanning.
    public var isDiscovering: Bool
    /// Number of devices connected through it.
    public var connectedCount: Int
    /// The name of the radio that uses it; nil if the bridge has one radio.
    public var radio: String?
    /// The number of links that it can have in addition; nil if unknown.
    public var freeLinks: Int?
    /// Why it cannot be used, with what to do; nil if it can, or if the reason is unknown.
    public var error: String?
    /// Whether it cannot be used because another program uses it.
    public var isTaken = false

    /// Creates the state of an adapter.
    public init(
        id: String,
        address: String?,
        state: State,
        isDiscovering: Bool = false,
        connectedCount: Int = 0,
        radio: String? = nil
    ) {
        self.radio = radio
        self.id = id
        self.address = address
        self.state = state
        self.isDiscovering = isDiscovering
        self.connectedCount = connectedCount
    }

    /// Its name among all adapters of the bridge.
    var name: String { radio ?? id }
}
