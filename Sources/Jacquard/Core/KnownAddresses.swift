import Bluetooth
import JacquardProtocol
import Time

/// The addresses at which tags that are named by their serial have been connected, and when another one may take over.
///
/// Anyone can advertise a serial. So a tag keeps its address once it was connected there; and a tag with a bond is the
/// device with that bond, whose private addresses the Bluetooth stack resolves.
struct KnownAddresses {
    private var addresses: [PairingSerial: [TagIdentity: BluetoothAddress]] = [:]

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

    /// How long the device at a tag's address is silent before a pairing moves the tag: of two devices that both advertise, the
    /// first is paired.
    private static let pairingSilence = Duration.seconds(5)

    /// Where a tag is, as far as a takeover of its identity goes.
    struct Holder {
        let address: BluetoothAddress
        let isBonded: Bool
        /// Whether the tag was connected at the address.
        let isKnown: Bool
        /// Whether its user is pairing it now.
        let isPairing: Bool
        /// When the device at the address last gave a sign of life; nil if it never did in this run.
        let lastSign: Instant?
    }

    /// Whether the identity of a tag without a link moves from the device that has it to another one with its serial.
    ///
    /// - Parameters:
    ///   - holder: the device that has it.
    ///   - isBonded: whether this host has a bond with the other one.
    ///   - now: the time.
    /// - Returns: true if only the other one has a bond. If both or none have one, true after a silence at the
    ///   address without a bond, but only during a pairing by the user, or if the tag was never connected there.
    static func movesIdentity(from holder: Holder, toDeviceWithBond isBonded: Bool, at now: Instant) -> Bool {
        guard holder.isBonded == isBonded else { return isBonded }
        guard !isBonded else { return false }
        guard holder.isPairing || !holder.isKnown else { return false }
        let silence = holder.isPairing ? pairingSilence : Sightings.silence
        return holder.lastSign.map { now - $0 > silence } ?? true
    }
}
