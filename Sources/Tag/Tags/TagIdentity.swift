public import Bluetooth
public import JacquardProtocol
import Time

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
}

/// The addresses at which tags identified by their serial have been connected.
///
/// Any device can advertise a serial. A tag therefore keeps its address after it was connected there. A bonded tag is
/// the device with that bond; the Bluetooth stack resolves its private addresses.
struct KnownAddresses {
    private(set) var addresses: [PairingSerial: [TagIdentity: BluetoothAddress]] = [:]

    /// The address of a tag; nil before its first connection, unless it is fixed.
    subscript(identity: TagIdentity) -> BluetoothAddress? {
        get { identity.address ?? identity.serial.flatMap { addresses[$0]?[identity] } }
        set {
            guard let serial = identity.serial else { return }
            addresses[serial, default: [:]][identity] = newValue
            if addresses[serial]?.isEmpty == true { addresses[serial] = nil }
        }
    }

    /// The addresses of all tags of a serial.
    func all(of serial: PairingSerial) -> Set<BluetoothAddress> {
        addresses[serial].map { Set($0.values) } ?? []
    }

    /// How long the device at a tag's address must be silent before a pairing moves the tag to another address. If two
    /// devices advertise, the first one is paired.
    private static let pairingSilence = Duration.seconds(5)

    /// The device that has a tag's identity now.
    struct Holder {
        let address: BluetoothAddress
        let isBonded: Bool
        /// Whether the tag was connected at the address.
        let isKnown: Bool
        /// Whether the user is pairing the tag now.
        let isPairing: Bool
        /// When the device at the address was last active; nil if it was not during this run.
        let lastSign: Instant?
    }

    /// Whether the identity of a tag without a link moves to another device with its serial.
    ///
    /// - Parameters:
    ///   - holder: the device that has the identity.
    ///   - isBonded: whether this host has a bond with the other device.
    ///   - now: the current time.
    /// - Returns: true if only the other device has a bond. If neither has one, true once the holder has been silent
    ///   for long enough, but only during a pairing or if the tag was never connected at the holder's address.
    static func movesIdentity(from holder: Holder, toDeviceWithBond isBonded: Bool, at now: Instant) -> Bool {
        guard holder.isBonded == isBonded else { return isBonded }
        guard !isBonded else { return false }
        guard holder.isPairing || !holder.isKnown else { return false }
        let silence = holder.isPairing ? pairingSilence : Sightings.silence
        return holder.lastSign.map { now - $0 > silence } ?? true
    }
}
