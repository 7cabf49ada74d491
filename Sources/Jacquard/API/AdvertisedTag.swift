public import Bluetooth
public import JacquardProtocol

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
