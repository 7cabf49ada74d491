/// Whether Bluetooth can be used. The numbers are those of the JUMA manager, the words those of Core Bluetooth.
public enum CentralState: Int, Hashable, Sendable, CaseIterable {
    /// Not known yet.
    case unknown = 0
    /// The Bluetooth service has gone and is expected back.
    case resetting = 1
    /// This machine has no adapter.
    case unsupported = 2
    /// We may not use the Bluetooth service.
    case unauthorized = 3
    /// The adapter is switched off or blocked.
    case poweredOff = 4
    /// Ready. Only now do scanning and connecting work.
    case poweredOn = 5
}

/// What is known of an adapter.
public struct Adapter: Hashable, Sendable {
    /// Name of the kernel, such as `hci0`.
    public let id: String
    /// Its own address; nil when it does not tell.
    public let address: BluetoothAddress?
    /// Whether it can be used.
    public let state: CentralState
    /// Whether it scans at the moment, for whomever.
    public let isDiscovering: Bool
    /// How many devices are connected through it.
    public let connectedCount: Int

    /// Describes an adapter.
    public init(
        id: String, address: BluetoothAddress?, state: CentralState, isDiscovering: Bool, connectedCount: Int
    ) {
        self.id = id
        self.address = address
        self.state = state
        self.isDiscovering = isDiscovering
        self.connectedCount = connectedCount
    }
}
