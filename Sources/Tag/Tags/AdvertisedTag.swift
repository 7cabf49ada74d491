public import Bluetooth
public import JacquardProtocol

/// A tag that has advertised. Source: JacquardSDKiOS, `AdvertisedTag`.
public struct AdvertisedTag: Hashable, Sendable {
    /// The tag's Bluetooth address.
    public let identifier: BluetoothAddress
    /// The advertised serial: the four characters that are printed on the tag.
    public let pairingSerialNumber: PairingSerial
    /// Signal strength in dBm; nil if it is not available.
    public let rssi: Int?
    /// The advertised name, empty if there is none.
    public internal(set) var displayName: String
    /// Whether this host has a bond with the tag.
    public let isPaired: Bool
    /// Whether this host has a link with the tag, made by any program.
    public let isConnected: Bool

    /// Parses an advertisement.
    ///
    /// - Returns: nil if the device is not a tag: it has another company identifier, or no serial.
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
