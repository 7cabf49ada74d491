/// The Bluetooth role that scans and connects. Requests and events are values, so that tests can replace either side.
///
/// The result of a request is an event in a later turn. These rules always hold:
///
/// - Each `connect` is followed by one `connected` or `disconnected`, and each `connected` by one `disconnected`.
/// - Each `forget` is followed by one `forgotten`.
/// - Each `pair`, `discover`, `subscribe` and `write` is followed by one event of its result, unless `disconnected`
///   comes first.
/// - After `disconnected`, no further events of that link follow.
/// - A second `connect` to a device shares the result of the first one. While the device is disconnecting, that
///   `disconnected` is its result.
public protocol Central: AnyObject {
    /// The event handler. Set it before the first request.
    var onEvent: ((CentralEvent) -> Void)? { get set }

    /// Performs a request, or starts it.
    func perform(_ request: CentralRequest)
}

/// A request to a central. A device is identified by its address.
public enum CentralRequest: Hashable, Sendable {
    /// Scans for devices with a service, and reports every advertisement; nil stops scanning. The central pauses the scan
    /// while it connects.
    case scan(BluetoothUUID?)
    /// Reports devices with this service whenever the stack shows one, even without a scan.
    case watch(BluetoothUUID)
    /// Makes a link as soon as the device advertises and Bluetooth is on. Without a timeout: the attempt ends with
    /// `disconnect`, or when Bluetooth is switched off.
    case connect(BluetoothAddress)
    /// Drops the link, or cancels the attempt to make one.
    case disconnect(BluetoothAddress)
    /// Pairs with a connected device and keeps the bond. An existing bond is kept.
    case pair(BluetoothAddress)
    /// Forgets a device: disconnects it, and removes its bond and all cached data.
    case forget(BluetoothAddress)
    /// A device is going to be paired: by the radio with this name, or by the one that receives it best (nil). Without effect on
    /// a central with one radio.
    case beginPairing(BluetoothAddress, radio: String?)
    /// The radio with this name is to make the next link with a device, with its bond: drops the link that exists. Lasts until
    /// `endPairing`. Without effect on a central with one radio.
    case checkBond(BluetoothAddress, radio: String)
    /// The pairing of a device, or the check of a bond, has ended.
    case endPairing(BluetoothAddress)
    /// Accepts pairing requests from these devices only.
    case acceptPairing(from: Set<BluetoothAddress>)
    /// Discovers a service and its characteristics on a connected device. Requests for several services add up.
    case discover(BluetoothUUID, characteristics: [BluetoothUUID], of: BluetoothAddress)
    /// Enables notifications of a characteristic.
    case subscribe(BluetoothUUID, of: BluetoothAddress)
    /// Writes a value. Each device has at most one pending write: send the next after `written` or `writeFailed`. While
    /// the stack is busy, the central retries for some seconds; `writeFailed` with `busy` means that nothing was sent.
    case write([UInt8], to: BluetoothUUID, of: BluetoothAddress, WriteType)
}

/// How a value is written.
public enum WriteType: Hashable, Sendable {
    /// The device confirms the write.
    case withResponse
    /// The device does not confirm the write. Success means that the stack has accepted it.
    case withoutResponse
}

/// The properties of a characteristic.
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The bits. They are not those of the Bluetooth specification.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Write with response.
    public static let write = CharacteristicProperties(rawValue: 1)
    /// Write without response.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 2)
    /// Notifications.
    public static let notify = CharacteristicProperties(rawValue: 4)
}

/// An event of a central.
public enum CentralEvent: Hashable, Sendable {
    /// Bluetooth became usable or unusable. Below `poweredOn` there are no links; each `disconnected` is sent first.
    case stateChanged(CentralState)
    /// Why Bluetooth cannot be used, or not fully; nil if it can. Sent before the events that follow from it. A central with several
    /// radios reports the faults of their adapters instead.
    case faultChanged(AdapterFault?)
    /// An adapter was added, removed or changed. The value contains all adapters.
    case adaptersChanged([Adapter])
    /// A requested scan has started, or has stopped for any reason. Pauses while the central connects are not reported.
    case scanning(Bool)
    /// A device with the service has advertised, or is connected by another program or by an earlier run of this one.
    case discovered(BluetoothAddress, Advertisement)
    /// The stack knows a watched device from an earlier scan, but does not receive it now.
    case remembered(BluetoothAddress, Advertisement)
    /// All devices with which this host has a bond. Sent at the start and after each change.
    case bonds(Set<BluetoothAddress>)
    /// The link is up.
    case connected(BluetoothAddress)
    /// The link is down, or could not be made. The error is nil if it was requested.
    case disconnected(BluetoothAddress, BluetoothError?)
    /// The device is bonded and trusted.
    case paired(BluetoothAddress)
    /// Pairing failed.
    case pairFailed(BluetoothAddress, BluetoothError)
    /// The device is forgotten. With an error, the stack refused to forget it.
    case forgotten(BluetoothAddress, BluetoothError?)
    /// The service was found, with these characteristics.
    case characteristicsDiscovered(BluetoothAddress, [BluetoothUUID: CharacteristicProperties])
    /// The service or one of its characteristics was not found.
    case discoveryFailed(BluetoothAddress, BluetoothError)
    /// The ATT MTU of a link, in bytes, within ``mtuRange``. A write or a notification carries at most three bytes
    /// less.
    ///
    /// Sent after `connected` and before the first `subscribed` of the link if the stack knows it, and after each
    /// change.
    case mtuChanged(BluetoothAddress, Int)
    /// Notifications of a characteristic are enabled.
    case subscribed(BluetoothAddress, BluetoothUUID)
    /// Notifications of a characteristic could not be enabled.
    case subscribeFailed(BluetoothAddress, BluetoothUUID, BluetoothError)
    /// The device confirmed the write, or the stack accepted a write without response.
    case written(BluetoothAddress)
    /// The write failed.
    case writeFailed(BluetoothAddress, BluetoothError)
    /// A characteristic notified a value.
    case notified(BluetoothAddress, BluetoothUUID, [UInt8])

    /// The range of the ATT MTU: from the value of every link before negotiation to the largest that a characteristic
    /// can use.
    ///
    /// Source: Bluetooth Core Specification 5.3, volume 3, part F, 3.2.8 and 3.2.9; part G, 5.2.1.
    public static let mtuRange = 23...517
}

/// The combined advertisement and scan response of a device, and whether it is bonded or connected.
public struct Advertisement: Hashable, Sendable {
    /// The local name; nil if there is none.
    public var name: String?
    /// Manufacturer specific data by company identifier, without the identifier's own bytes.
    public var manufacturerData: [UInt16: [UInt8]]
    /// Signal strength in dBm; nil if it is not available (127 in the protocol).
    public var rssi: Int?

    /// Whether this host has a bond with the device.
    public var isPaired: Bool
    /// Whether this host has a link with the device, made by any program. A connected device does not advertise.
    public var isConnected: Bool

    /// Creates an advertisement.
    ///
    /// An RSSI of 127 becomes nil. Source: Bluetooth Core Specification, "LE Advertising Report event", RSSI.
    public init(
        name: String?, manufacturerData: [UInt16: [UInt8]], rssi: Int?, isPaired: Bool = false,
        isConnected: Bool = false
    ) {
        self.name = name
        self.isPaired = isPaired
        self.isConnected = isConnected
        self.manufacturerData = manufacturerData
        self.rssi = rssi == 127 ? nil : rssi
    }
}
