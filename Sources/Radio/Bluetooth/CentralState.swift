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

extension CentralState {
    /// The name of the case. Asked for it, the runtime reflects on the type, which takes two million instructions at the start.
    public var word: String {
        switch self {
        case .unknown: "unknown"
        case .resetting: "resetting"
        case .unsupported: "unsupported"
        case .unauthorized: "unauthorized"
        case .poweredOff: "poweredOff"
        case .poweredOn: "poweredOn"
        }
    }
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
    /// The name of the radio that uses the adapter; nil if there is only one radio.
    public var radio: String?
    /// The number of links that the adapter can have; nil if unknown.
    public var linkLimit: Int?
    /// Why the adapter cannot be used; nil if it can, or if the reason is unknown.
    public var fault: AdapterFault?

    /// Creates an adapter.
    public init(
        id: String, address: BluetoothAddress?, state: CentralState, isDiscovering: Bool, connectedCount: Int,
        radio: String? = nil
    ) {
        self.radio = radio
        self.id = id
        self.address = address
        self.state = state
        self.isDiscovering = isDiscovering
        self.connectedCount = connectedCount
    }
}

/// Why an adapter, or Bluetooth as a whole, cannot be used.
public enum AdapterFault: Hashable, Sendable {
    /// The bus of the Bluetooth service cannot be reached; with the error.
    case busUnreachable(String)
    /// The Bluetooth service does not run.
    case serviceStopped
    /// This process may not use the Bluetooth service.
    case notPermitted
    /// The service knows no adapter.
    case noAdapter
    /// The service does not know the adapter that was chosen; with the names and addresses of those that it knows.
    case otherAdaptersOnly(wanted: String, present: [String])
    /// The adapter with this name is switched off or blocked.
    case poweredOff(String)
    /// The service has refused several times in a row to search for devices; with its error. Devices that are known can be connected.
    case discoveryRefused(String)
    /// Another program uses the adapter, which serves one only; with the error.
    case taken(String)
    /// Any other fault; with the error, and the remedy if the user has to do something.
    case other(String)

    /// One clause for people.
    public var text: String {
        switch self {
        case .busUnreachable(let error): "the system bus cannot be reached: \(error)"
        case .serviceStopped: "bluetoothd is not running"
        case .notPermitted: "the bus does not let this user talk to bluetoothd"
        case .noAdapter: "bluetoothd knows no adapter"
        case .otherAdaptersOnly(let wanted, let present):
            "there is no adapter \(wanted), which bluetooth.adapter names; there is \(present.joined(separator: ", "))"
        case .poweredOff(let name): "the adapter \(name) is switched off"
        case .discoveryRefused(let error): "bluetoothd refuses to search for tags: \(error)"
        case .taken(let error), .other(let error): error
        }
    }

    /// Whether another program uses the adapter.
    public var isTaken: Bool { if case .taken = self { true } else { false } }
}

/// Why a request to a central failed.
public struct BluetoothError: Error, Hashable, Sendable {
    /// The kind of error.
    public enum Code: Hashable, Sendable {
        /// The stack does not know the device.
        case notFound
        /// Bluetooth is off.
        case poweredOff
        /// The link could not be made, or was lost.
        case connectionFailed
        /// The caller cancelled the attempt.
        case canceled
        /// The stack did not respond in time.
        case timeout
        /// The device has lost its bond with this host, or refuses to make one.
        case authenticationFailed
        /// The device does not offer the service.
        case serviceMissing
        /// A characteristic is missing.
        case characteristicMissing
        /// The device does not permit this access. If a write with response fails, try a write without response.
        case notPermitted
        /// The stack is too busy for the request. Nothing was sent.
        case busy
        /// Another client of the stack on this host uses the device.
        case inUse
        /// The stack holds a subscription for a client that no longer exists. It accepts no other until it is
        /// restarted.
        case subscriptionStuck
        /// Any other error; see ``BluetoothError/name``.
        case other
    }

    /// Why a link has ended, as the stack reports it.
    public enum DisconnectReason: Hashable, Sendable, CaseIterable {
        /// The device has ended it.
        case remote
        /// Nothing was received within the link's supervision timeout.
        case timeout
        /// This host has ended it.
        case local

        /// One clause for people.
        public var text: String {
            switch self {
            case .remote: "the device ended the link"
            case .timeout: "the link was lost: nothing was received"
            case .local: "the host ended the link"
            }
        }
    }

    /// The kind of error.
    public let code: Code
    /// The stack's error name, such as `org.bluez.Error.Failed`; empty if there is none.
    public let name: String
    /// The stack's error text.
    public let text: String
    /// Why the link has ended; nil if none has, or if the stack does not say.
    public var end: DisconnectReason?

    /// The ``name`` of a link that was dropped so that a given radio makes the next one.
    public static let otherRadioName = "other_radio"
    /// The ``name`` of a failed check of a bond: the device does not accept it.
    public static let bondRefusedName = "bond_refused"

    /// Creates an error.
    public init(_ code: Code, name: String = "", text: String, end: DisconnectReason? = nil) {
        self.code = code
        self.name = name
        self.text = text
        self.end = end
    }

    /// A request about a device without a link.
    public static let notConnected = BluetoothError(.notFound, text: "the device is not connected")
    /// A request about a characteristic that the device does not have.
    public static let characteristicMissing = BluetoothError(
        .characteristicMissing, text: "the characteristic is not there")
}
