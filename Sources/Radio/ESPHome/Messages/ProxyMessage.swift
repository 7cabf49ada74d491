/// The messages of ESPHome's native API that a Bluetooth proxy and its client exchange.
///
/// Numbers and fields: `api.proto` of ESPHome 2026.6. An address is a number of 48 bits.
public enum ProxyMessage: Hashable, Sendable {
    // Connection
    /// The client's name, and the version of the API that it supports.
    case hello(client: String, major: UInt32, minor: UInt32)
    /// The version of the API, the firmware, and the name of the proxy.
    case helloResponse(major: UInt32, minor: UInt32, server: String, name: String)
    /// The sender will close the connection.
    case disconnect
    /// The receiver of `disconnect` agrees.
    case disconnectResponse
    /// The receiver has to respond.
    case ping
    /// The response to `ping`.
    case pingResponse
    /// Requests the properties of the proxy.
    case deviceInfo
    /// The properties of the proxy.
    case deviceInfoResponse(ProxyInfo)

    // Scanning and links
    /// Requests raw advertisements, and makes the client the only one that the proxy serves.
    case subscribeAdvertisements(flags: UInt32)
    /// Ends the subscription.
    case unsubscribeAdvertisements
    /// Received advertisements.
    case advertisements([RawAdvertisement])
    /// The state of the scanner, sent at the start of a subscription and after each change.
    case scannerState(ScannerState)
    /// Requests the number of free links.
    case subscribeConnectionsFree
    /// The number of free links, that of all links, and the connected devices.
    case connectionsFree(free: UInt32, limit: UInt32, allocated: [UInt64])
    /// A request about a device, with the address type of its advertisement.
    case device(UInt64, DeviceRequest, addressType: UInt32?)
    /// A link came up, has ended, or could not be made.
    case connection(UInt64, isConnected: Bool, mtu: UInt32, error: Int32)
    /// The result of a pairing, also of one that the device has requested.
    case paired(UInt64, isPaired: Bool, error: Int32)
    /// The result of removing a bond.
    case unpaired(UInt64, isRemoved: Bool, error: Int32)
    /// Requests other parameters of a link, in units of 1.25 ms, intervals, and 10 ms.
    case setParameters(UInt64, minimum: UInt32, maximum: UInt32, latency: UInt32, timeout: UInt32)
    /// The result of `setParameters`.
    case parametersSet(UInt64, error: Int32)

    // GATT
    /// Requests the services of a device.
    case getServices(UInt64)
    /// Some services of a device.
    case services(UInt64, [ProxyService])
    /// All services of the device were sent.
    case servicesDone(UInt64)
    /// Writes a value.
    case write(UInt64, handle: UInt32, withResponse: Bool, [UInt8])
    /// Writes a descriptor.
    case writeDescriptor(UInt64, handle: UInt32, [UInt8])
    /// The result of both.
    case written(UInt64, handle: UInt32)
    /// Lets the proxy pass on notifications of a characteristic, or not. It does not write the descriptor.
    case notify(UInt64, handle: UInt32, isOn: Bool)
    /// The result of `notify`.
    case notifySet(UInt64, handle: UInt32)
    /// A notified value.
    case value(UInt64, handle: UInt32, [UInt8])
    /// A request about a handle failed.
    case failed(UInt64, handle: UInt32, error: Int32)
}

/// The properties of a proxy.
public struct ProxyInfo: Hashable, Sendable {
    /// Bits of ``features``.
    public struct Features: OptionSet, Hashable, Sendable {
        /// The number of the wire.
        public let rawValue: UInt32

        /// Creates a set from the number of the wire.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// It can connect devices.
        public static let connections = Features(rawValue: 1 << 1)
        /// It has the requests `connectWithCache` and `connect`.
        public static let caching = Features(rawValue: 1 << 2)
        /// It can pair.
        public static let pairing = Features(rawValue: 1 << 3)
        /// It sends raw advertisements.
        public static let rawAdvertisements = Features(rawValue: 1 << 5)
        /// Everything that a client of this module requires.
        public static let required: Features = [.connections, .caching, .rawAdvertisements]
        /// Those of ESPHome 2026.6.
        public static let all = Features(rawValue: 0xFF)
    }

    /// The name of the node.
    public var name = ""
    /// The version of its firmware, such as `2026.6.5`.
    public var version = ""
    /// Its features.
    public var features: Features = []
    /// The address of its Bluetooth controller, in text form; empty if the firmware does not send it.
    public var bluetoothAddress = ""

    /// Creates properties without a value.
    public init() {}
}

/// An advertisement or scan response as it was received.
public struct RawAdvertisement: Hashable, Sendable {
    /// The address of the device.
    public var address: UInt64
    /// The signal strength in dBm.
    public var rssi: Int32
    /// 0 for public, 1 for random.
    public var addressType: UInt32
    /// The structures of the advertisement. Shares the memory of the message that was read.
    public var data: ArraySlice<UInt8>

    /// Creates an advertisement.
    public init(address: UInt64, rssi: Int32, addressType: UInt32, data: [UInt8]) {
        self.init(address: address, rssi: rssi, addressType: addressType, slice: data[...])
    }

    init(address: UInt64, rssi: Int32, addressType: UInt32, slice data: ArraySlice<UInt8>) {
        self.address = address
        self.rssi = rssi
        self.addressType = addressType
        self.data = data
    }
}

/// The states of a proxy's scanner.
public enum ScannerState: UInt32, Hashable, Sendable {
    /// Not scanning.
    case idle = 0
    /// About to scan.
    case starting = 1
    /// Scanning.
    case running = 2
    /// The scanner has failed.
    case failed = 3
    /// About to stop.
    case stopping = 4
    /// Not scanning.
    case stopped = 5
}

/// A request about a device.
public enum DeviceRequest: UInt32, Hashable, Sendable {
    /// Ends the link or the attempt.
    case disconnect = 1
    /// Pairs over the link. If that does not complete, the proxy loses an existing bond.
    case pair = 2
    /// Removes the bond.
    case unpair = 3
    /// Connects, without discovering the services.
    case connectWithCache = 4
    /// Connects and discovers the services.
    case connect = 5
    /// Removes the cached services.
    case clearCache = 6
}

/// A service of a device.
public struct ProxyService: Hashable, Sendable {
    /// A UUID of 128 bits.
    public struct ID: Hashable, Sendable {
        /// The first eight bytes of the text form.
        public let high: UInt64
        /// The last eight bytes of the text form.
        public let low: UInt64

        /// Creates a UUID.
        public init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        /// Creates the UUID of an assigned number.
        public init(short: UInt32) {
            self.init(high: UInt64(short) << 32 | 0x1000, low: 0x8000_0080_5F9B_34FB)
        }

        /// The descriptor that enables notifications.
        public static let clientConfiguration = ID(short: 0x2902)
    }

    /// A characteristic.
    public struct Characteristic: Hashable, Sendable {
        /// The UUID.
        public var id: ID
        /// The handle of its value.
        public var handle: UInt32
        /// The properties as in the Bluetooth specification.
        public var properties: UInt32
        /// Its descriptors.
        public var descriptors: [Descriptor]

        /// Creates a characteristic.
        public init(id: ID, handle: UInt32, properties: UInt32, descriptors: [Descriptor]) {
            self.id = id
            self.handle = handle
            self.properties = properties
            self.descriptors = descriptors
        }
    }

    /// A descriptor of a characteristic.
    public struct Descriptor: Hashable, Sendable {
        /// The UUID.
        public var id: ID
        /// The handle.
        public var handle: UInt32

        /// Creates a descriptor.
        public init(id: ID, handle: UInt32) {
            self.id = id
            self.handle = handle
        }
    }

    /// The UUID.
    public var id: ID
    /// The first handle.
    public var handle: UInt32
    /// Its characteristics.
    public var characteristics: [Characteristic]

    /// Creates a service.
    public init(id: ID, handle: UInt32, characteristics: [Characteristic]) {
        self.id = id
        self.handle = handle
        self.characteristics = characteristics
    }
}
