/// An error as bluetoothd answers it; names and texts are those of its src/error.c and src/gatt-client.c.
struct BlueZError: Error, Hashable {
    let name: String
    let text: String

    init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }

    static func failed(_ text: String) -> BlueZError { BlueZError("org.bluez.Error.Failed", text) }
    static func notPermitted(_ text: String) -> BlueZError { BlueZError("org.bluez.Error.NotPermitted", text) }

    static let alreadyExists = BlueZError("org.bluez.Error.AlreadyExists", "Already Exists")
    static let authenticationCanceled = BlueZError(
        "org.bluez.Error.AuthenticationCanceled", "Authentication Canceled")
    /// The answer to a second call of what runs already for this client.
    static let busy = BlueZError("org.bluez.Error.InProgress", "Operation already in progress")
    static let doesNotExist = BlueZError("org.bluez.Error.DoesNotExist", "Does Not Exist")
    static let inProgress = BlueZError("org.bluez.Error.InProgress", "In Progress")
    static let invalidArguments = BlueZError(
        "org.bluez.Error.InvalidArguments", "Invalid arguments in method call")
    static let notConnected = BlueZError("org.bluez.Error.NotConnected", "Not Connected")
    static let notReady = BlueZError("org.bluez.Error.NotReady", "Resource Not Ready")
    static let notSupported = BlueZError("org.bluez.Error.NotSupported", "Operation is not supported")

    /// A Connect that is called twice: `strerror(EALREADY)`.
    static let alreadyConnecting = failed("Operation already in progress")
    /// A Connect or Pair without a powered adapter, which shows as a socket that cannot be made: `strerror(EIO)`.
    static let noSocket = failed("Input/output error")
    /// A Connect that timed out or lost its adapter.
    static let connectionAborted = failed("le-connection-abort-by-local")
    /// A Connect that a Disconnect cut short. The name of the other bearer is bluetoothd's.
    static let connectionCanceled = failed("br-connection-canceled")
    /// A Pair whose connection could not be made: `strerror(ECONNABORTED)`.
    static let pairingAborted = failed("Software caused connection abort")
    static let linkIsDown = failed("Not connected")
    static let noDiscovery = failed("No discovery started")
    /// An ATT request that the end of the link cut short.
    static let linkEnded = failed("Operation failed with ATT error: 0x0e")
    static let notPaired = notPermitted("Not paired")
}
