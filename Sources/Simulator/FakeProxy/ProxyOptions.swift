public import ESPHome

/// How the fake proxy behaves, and how long things take.
public struct ProxyOptions: Sendable {
    /// The name of the node.
    public var name = "simulated"
    /// The key; nil for a proxy without encryption.
    public var key: NoiseKey?
    /// The number that devices know its radio by, as with adapters.
    public var adapterNumber = 0
    /// The number of links. That of ESPHome is 3 unless it is configured.
    public var slots = 3
    /// Whether the newest subscription ends an earlier one, as since ESPHome 2026.7. Before, it is refused.
    public var servesNewest = true
    /// The ATT MTU of every link, in bytes.
    public var mtu: UInt16 = 247
    /// How often a device advertises.
    public var advertisingInterval = Duration.milliseconds(100)
    /// From the request to the link, with the discovery of the services.
    public var linkSetup = Duration.milliseconds(300)
    /// From an ATT request to its response.
    public var roundTrip = Duration.milliseconds(10)
    /// How long pairing and encryption take.
    public var pairing = Duration.milliseconds(100)
    /// After this, an attempt to connect a device that is not there fails.
    public var connectTimeout = Duration.seconds(20)
    /// From the end of a link to the free slot.
    public var cleanUp = Duration.milliseconds(20)

    /// As ESPHome does it.
    public init() {}

    /// With short waits, for tests that need the order of things and not their time.
    public static var quick: ProxyOptions {
        var options = ProxyOptions()
        options.advertisingInterval = .milliseconds(20)
        options.linkSetup = .milliseconds(5)
        options.roundTrip = .milliseconds(1)
        options.pairing = .milliseconds(5)
        options.connectTimeout = .seconds(2)
        options.cleanUp = .milliseconds(2)
        return options
    }
}

/// The faults that the fake proxy can simulate.
public enum ProxyFault: Hashable, Sendable {
    /// All TCP connections are closed.
    case drop
    /// Nothing is read, sent or accepted, and TCP connections stay open, as those of a frozen ESP32.
    case silent
    /// Another client has the subscription, and keeps it.
    case taken
    /// The number of links.
    case slots(Int)
    /// Ends `silent` and `taken`, and restores the number of links.
    case clear
}
