public import Bluetooth
public import JacquardProtocol

/// Which tag is meant: the one with this serial, and, where an address is given, no other that shares it.
public struct TagIdentity: Hashable, Sendable {
    /// The pairing serial printed on the tag.
    public let serial: PairingSerial
    /// Its address, where it is fixed; nil takes the address from the air.
    public let address: BluetoothAddress?

    /// Names a tag.
    public init(serial: PairingSerial, address: BluetoothAddress? = nil) {
        self.serial = serial
        self.address = address
    }

    /// Whether a device that was heard is this tag.
    ///
    /// - Parameter tag: what was heard.
    /// - Returns: true if it has the address, or where none is fixed the serial.
    public func matches(_ tag: AdvertisedTag) -> Bool {
        address.map { $0 == tag.identifier } ?? (serial == tag.pairingSerialNumber)
    }
}
