public import Bluetooth
public import JacquardProtocol

/// Which tag is meant: the one with this serial, or the one at this address.
///
/// With both, it is the one at the address, and no other that shares its serial. An identity has at least one of them.
public struct TagIdentity: Hashable, Sendable {
    /// The pairing serial printed on the tag; nil where only the address is known.
    public let serial: PairingSerial?
    /// Its address, where it is fixed; nil takes the address from the air.
    public let address: BluetoothAddress?

    /// Names a tag by its serial.
    public init(serial: PairingSerial, address: BluetoothAddress? = nil) {
        self.serial = serial
        self.address = address
    }

    /// Names a tag by its address alone, as the SDK does with its `identifier`.
    public init(address: BluetoothAddress) {
        serial = nil
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
