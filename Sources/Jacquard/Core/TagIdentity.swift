public import Bluetooth
public import JacquardProtocol

/// Identifies a tag by its serial, its address or both. At least one of them is set.
///
/// With both, only the tag at the address matches, and no other tag with the same serial.
public struct TagIdentity: Hashable, Sendable {
    /// The pairing serial printed on the tag; nil if only the address is known.
    public let serial: PairingSerial?
    /// The fixed address; nil if the address is taken from advertisements.
    public let address: BluetoothAddress?

    /// Identifies a tag by its serial, and optionally by a fixed address.
    public init(serial: PairingSerial, address: BluetoothAddress? = nil) {
        self.serial = serial
        self.address = address
    }

    /// Identifies a tag by its address alone, like the SDK's `identifier`.
    public init(address: BluetoothAddress) {
        serial = nil
        self.address = address
    }

    /// Whether an advertisement matches this identity.
    ///
    /// - Parameter tag: the advertised tag.
    /// - Returns: true if the address is equal, or without a fixed address the serial.
    public func matches(_ tag: AdvertisedTag) -> Bool {
        address.map { $0 == tag.identifier } ?? (serial == tag.pairingSerialNumber)
    }
}
