/// How the fake `org.bluez` behaves where bluetoothd can be configured, and how long things take.
public struct BlueZOptions: Sendable {
    /// Whether GATT objects outlive the link: `Cache` of BlueZ' main.conf.
    public enum GATTCache: Sendable, CaseIterable {
        /// Always; bluetoothd's default.
        case always
        /// Those of bonded devices.
        case bonded
        /// Never.
        case never
    }

    /// The number that devices know `hci0` by; the other adapters follow. Two services in one process need different ones.
    public var firstAdapter = 0
    /// Whether AcquireNotify works; without, clients have to fall back on StartNotify.
    public var allowsAcquireNotify = true
    /// Whether AcquireWrite works; without, clients have to write by WriteValue.
    public var allowsAcquireWrite = true
    /// Whether GATT objects outlive the link.
    public var gattCache = GATTCache.always
    /// Whether Connect is answered once the services are resolved. bluetoothd answers as soon as the link is up.
    public var answersConnectWhenResolved = false
    /// Whether `Disconnected` signals why a link has ended, as bluetoothd 5.83 and later do.
    public var reportsReasons = false
    /// The ATT MTU of every link, in bytes.
    public var mtu: UInt16 = 247
    /// How often a device advertises.
    public var advertisingInterval = Duration.milliseconds(100)
    /// From hearing a device to the link with it.
    public var linkSetup = Duration.milliseconds(20)
    /// From the link to the resolved services.
    public var serviceDiscovery = Duration.milliseconds(30)
    /// From an ATT request to its response.
    public var roundTrip = Duration.milliseconds(2)
    /// How long pairing takes.
    public var pairing = Duration.milliseconds(50)
    /// After this a Connect to a device that is not there fails; the kernel's limit.
    public var connectTimeout = Duration.seconds(20)
    /// bluetoothd lets profiles finish before a Disconnect drops the link: `DISCONNECT_TIMER` of src/device.c.
    public var disconnectDelay = Duration.seconds(2)
    /// How long a descriptor of AcquireNotify counts as open after its client has gone. Until then a further AcquireNotify is
    /// refused. Seen with bluetoothd 5.66 and 5.87: 25 to 75 ms.
    public var descriptorRelease = Duration.milliseconds(50)
    /// From there until the device's notifications are off, unless another client has them by then: 0 to 50 ms.
    public var unsubscription = Duration.milliseconds(30)
    /// How long a temporary device is kept after it was last seen: `TemporaryTimeout` of main.conf.
    public var temporaryTimeout = Duration.seconds(30)

    /// As bluetoothd 5.66 does with its own configuration.
    public init() {}

    /// With the long waits shortened, for tests that need the order of things and not their time.
    public static var quick: BlueZOptions {
        var options = BlueZOptions()
        options.advertisingInterval = .milliseconds(20)
        options.linkSetup = .milliseconds(5)
        options.serviceDiscovery = .milliseconds(5)
        options.roundTrip = .milliseconds(1)
        options.pairing = .milliseconds(5)
        options.connectTimeout = .seconds(2)
        options.disconnectDelay = .milliseconds(20)
        options.descriptorRelease = .milliseconds(2)
        options.unsubscription = .milliseconds(1)
        options.temporaryTimeout = .seconds(3)
        return options
    }
}
