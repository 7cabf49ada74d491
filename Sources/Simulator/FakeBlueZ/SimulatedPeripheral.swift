public import EventLoop

/// A device on the air, as the fake BlueZ needs it.
@LoopActor
public protocol SimulatedPeripheral: AnyObject {
    /// Static random address, such as `F0:00:00:00:00:01`.
    var address: String { get }
    /// Its GATT table.
    var services: [GATTService] { get }
    /// Its advertisement; nil while nothing of it is on the air, as when it is connected, asleep or out of range.
    var broadcast: BroadcastData? { get }
    /// Whether packets of an existing link arrive.
    var isReachable: Bool { get }
    /// Its advertisement as an adapter receives it, by the adapter's number; nil if it is out of the adapter's range.
    func broadcast(at adapter: Int) -> BroadcastData?
    /// Whether packets of an existing link with an adapter arrive.
    func isReachable(from adapter: Int) -> Bool
    /// Whether it wants to be paired before anything else.
    var wantsPairing: Bool { get }
    /// Whether it refuses every access over a link that is not encrypted.
    var demandsEncryption: Bool { get }

    /// A host has connected.
    func linked(_ link: any PeripheralLink, mtu: Int)
    /// Handles the end of the link, whichever side ended it.
    func unlinked()
    /// The host switches notifications on or off.
    func subscribed(_ characteristic: String, isOn: Bool)
    /// Whether a write with response is carried out; else it gets ATT error 3.
    func allowsWriteRequest(on characteristic: String) -> Bool
    /// The host writes.
    func write(_ value: [UInt8], on characteristic: String)
    /// After ``NotifyOutcome/full``: there is room again.
    func hasRoom()
}

extension SimulatedPeripheral {
    /// The same for each adapter.
    public func broadcast(at adapter: Int) -> BroadcastData? { broadcast }

    /// The same for each adapter.
    public func isReachable(from adapter: Int) -> Bool { isReachable }
}

/// A host's end of a link, as a device needs it.
@LoopActor
public protocol PeripheralLink: AnyObject {
    /// The number of the adapter.
    var adapterNumber: Int { get }
    /// Notifies a value.
    func notify(_ value: [UInt8], on characteristic: String) -> NotifyOutcome
    /// Ends the link.
    func drop(because end: LinkDrop)
}

extension PeripheralLink {
    /// The device ends the link.
    public func drop() { drop(because: .remote) }
}

/// Why a link ends, in the words of `org.bluez.Device1.Disconnected`.
public enum LinkDrop: String, Sendable {
    /// The device ends it.
    case remote = "Remote"
    /// The device cannot be reached.
    case timeout = "Timeout"
    /// The host ends it.
    case local = "Local"

    var message: String {
        switch self {
        case .remote: "Connection terminated by remote user"
        case .timeout: "Connection timeout"
        case .local: "Connection terminated by local host"
        }
    }
}

extension PeripheralLink {
    /// The only adapter.
    public var adapterNumber: Int { 0 }
}

/// The fate of a notification.
public enum NotifyOutcome: Hashable, Sendable {
    /// A client has it.
    case delivered
    /// The client's socket is full; bluetoothd drops the value then.
    case full
    /// No client listens.
    case nobody
}

/// A service of a device.
public struct GATTService: Hashable, Sendable {
    /// A characteristic of a service.
    public struct Characteristic: Hashable, Sendable {
        /// 128-bit UUID in lower case.
        public let uuid: String
        /// BlueZ' words for its properties, such as `notify`.
        public let flags: [String]

        /// Describes a characteristic.
        public init(uuid: String, flags: [String]) {
            self.uuid = uuid
            self.flags = flags
        }
    }

    /// 128-bit UUID in lower case.
    public let uuid: String
    /// In the order of their handles.
    public let characteristics: [Characteristic]

    /// Describes a service.
    public init(uuid: String, characteristics: [Characteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}
