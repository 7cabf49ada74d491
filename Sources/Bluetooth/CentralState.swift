/// The state of Bluetooth. The numbers are those of the JUMA manager, the names those of Core Bluetooth.
public enum CentralState: Int, Hashable, Sendable, CaseIterable {
    /// Not known yet.
    case unknown = 0
    /// The Bluetooth service has stopped and is expected to restart.
    case resetting = 1
    /// This machine has no adapter.
    case unsupported = 2
    /// The process has no permission to use the Bluetooth service.
    case unauthorized = 3
    /// The adapter is switched off or blocked.
    case poweredOff = 4
    /// Ready. Required for scanning and connecting.
    case poweredOn = 5
}

/// A Bluetooth adapter.
public struct Adapter: Hashable, Sendable {
    /// The kernel's name of the adapter, such as `hci0`.
    public let id: String
    /// The adapter's address; nil if it is unknown.
    public let address: BluetoothAddress?
    /// Whether the adapter can be used.
    public let state: CentralState
    /// Whether the adapter is scanning now, for any client.
    public let isDiscovering: Bool
    /// The number of devices connected through the adapter.
    public let connectedCount: Int

    /// Creates an adapter.
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
