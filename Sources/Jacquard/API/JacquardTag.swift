public import Bluetooth
public import JacquardProtocol

/// What all kinds of tags have. Source: JacquardSDKiOS, `JacquardTag`.
public protocol JacquardTag {
    /// The address on the air; the SDK has the UUID that iOS makes up in its place.
    var identifier: BluetoothAddress { get }
    /// What people call it; empty while nobody has heard its name.
    var displayName: String { get }
}

/// A tag that can be connected: an ``AdvertisedTag`` or a ``PreConnectedTag``. Source: JacquardSDKiOS, `ConnectableTag`.
public protocol ConnectableTag: JacquardTag, Sendable {}

/// A tag that was heard. Source: JacquardSDKiOS, `AdvertisedTag`.
public struct AdvertisedTag: ConnectableTag, Hashable {
    /// Its address on the air.
    public let identifier: BluetoothAddress
    /// The serial that it advertises; the four characters that users compare with the print on the tag.
    public let pairingSerialNumber: PairingSerial
    /// Signal strength in dBm; nil when it is not available.
    public let rssi: Int?
    /// The advertised name, empty if there is none.
    public internal(set) var displayName: String
    /// Whether this host has a bond with it.
    public let isPaired: Bool
    /// Whether this host has a link with it, whoever has made it.
    public let isConnected: Bool

    /// Reads an advertisement.
    ///
    /// - Returns: nil for a device of another company and for one without a serial, which are no tags.
    init?(_ identifier: BluetoothAddress, _ advertisement: Advertisement) {
        guard
            let data = advertisement.manufacturerData[PairingSerial.companyIdentifier],
            let serial = PairingSerial(manufacturerData: data)
        else { return nil }
        self.identifier = identifier
        pairingSerialNumber = serial
        rssi = advertisement.rssi
        displayName = advertisement.name ?? ""
        isPaired = advertisement.isPaired
        isConnected = advertisement.isConnected
    }
}

/// A tag that was connected before. Source: JacquardSDKiOS, `PreConnectedTag`.
public struct PreConnectedTag: ConnectableTag, Hashable {
    /// Its address on the air.
    public let identifier: BluetoothAddress
    /// The name that it advertised last; empty if that is not known.
    public let displayName: String
}
