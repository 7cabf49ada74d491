/// The side of Bluetooth that scans and connects. Requests go in, events come out, and both are values: a test can play
/// either side.
///
/// A request never fails at once; what becomes of it comes as an event, in a later turn. Whatever happens, each `connect`
/// is followed by one `connected` or `disconnected`, each `connected` by one `disconnected`, each `forget` by one `forgotten`,
/// and each `pair`, `discover`, `subscribe` and `write` by one event of theirs unless `disconnected` comes first. Nothing of
/// a link comes behind its `disconnected`.
///
/// A device that is asked for already is not asked for twice: a second `connect` shares what comes of the first, and one
/// while the device is on its way down is answered by that `disconnected`.
public protocol Central: AnyObject {
    /// Who is told what happens. Set before the first request.
    var onEvent: ((CentralEvent) -> Void)? { get set }

    /// Does something, or begins to.
    func perform(_ request: CentralRequest)
}

/// What a central can be asked for. A device is known by its address.
public enum CentralRequest: Hashable, Sendable {
    /// Scans for devices with a service, or stops scanning. The central pauses the scan by itself while it connects.
    case scan(ScanOptions?)
    /// Reports devices with this service whenever the stack shows one, also while no scan was asked for.
    case watch(BluetoothUUID)
    /// Makes a link as soon as the device is heard and Bluetooth is on. Waits for that without a limit of its own:
    /// `disconnect` ends it, and so does Bluetooth when it is switched off.
    case connect(BluetoothAddress)
    /// Drops the link, or gives up making it.
    case disconnect(BluetoothAddress)
    /// Pairs with a linked device and keeps the bond. A device that is bonded already stays so.
    case pair(BluetoothAddress)
    /// Forgets a device: its link, its bond, and all that is known of it.
    case forget(BluetoothAddress)
    /// Lets these devices pair when they ask for it, and no others.
    case acceptPairing(from: Set<BluetoothAddress>)
    /// Looks for a service and its characteristics on a linked device. Those of several services add up.
    case discover(BluetoothUUID, characteristics: [BluetoothUUID], of: BluetoothAddress)
    /// Switches notifications of a characteristic on.
    case subscribe(BluetoothUUID, of: BluetoothAddress)
    /// Writes a value. One write of a device at a time: the next after `written` or `writeFailed`. While the stack is busy, the
    /// central repeats the write for some seconds; `writeFailed` with `busy` means that nothing was sent.
    case write([UInt8], to: BluetoothUUID, of: BluetoothAddress, WriteType)
}

/// What a scan looks for.
public struct ScanOptions: Hashable, Sendable {
    /// Only devices that advertise this service.
    public let service: BluetoothUUID
    /// Whether a signal that tells nothing new is told as well.
    public let allowsDuplicates: Bool

    /// Describes a scan.
    public init(service: BluetoothUUID, allowsDuplicates: Bool) {
        self.service = service
        self.allowsDuplicates = allowsDuplicates
    }
}

/// How a value is written.
public enum WriteType: Hashable, Sendable {
    /// The device confirms.
    case withResponse
    /// The device does not; the stack's acceptance is all there is.
    case withoutResponse
}

/// What can be done with a characteristic.
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// Bits of our own.
    public let rawValue: UInt8

    /// Takes the bits.
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

/// What happens on a central.
public enum CentralEvent: Hashable, Sendable {
    /// Bluetooth became usable or unusable. Below `poweredOn` all links are gone; each is told first.
    case stateChanged(CentralState)
    /// An adapter came, went or changed; all that there are.
    case adaptersChanged([Adapter])
    /// A scan that was asked for has begun, or has ended: because that was asked for, or by itself. The pauses that the
    /// central makes while it connects are not told.
    case scanning(Bool)
    /// A device that the scan looks for was heard, or is connected by another program, or by ours before a restart.
    case discovered(BluetoothAddress, Advertisement)
    /// The stack knows a watched device from an earlier scan, and does not receive it now.
    case remembered(BluetoothAddress, Advertisement)
    /// All devices with which this host has a bond; reported at the start and after each change.
    case bonds(Set<BluetoothAddress>)
    /// The link is up.
    case connected(BluetoothAddress)
    /// The link is down, or could not be made; nil when it was asked for.
    case disconnected(BluetoothAddress, BluetoothError?)
    /// The device is bonded and trusted.
    case paired(BluetoothAddress)
    /// The device could not be paired with.
    case pairFailed(BluetoothAddress, BluetoothError)
    /// The device is forgotten, or the stack refused to.
    case forgotten(BluetoothAddress, BluetoothError?)
    /// The service is there, with these characteristics.
    case characteristicsDiscovered(BluetoothAddress, [BluetoothUUID: CharacteristicProperties])
    /// The service or one of its characteristics is not there.
    case discoveryFailed(BluetoothAddress, BluetoothError)
    /// The ATT MTU of a link became known, or has changed: a write or a notification carries at most three bytes less. In
    /// bytes, within ``mtuRange``. Comes after `connected` and before the first `subscribed` of the link, unless the stack does
    /// not know it.
    case mtuChanged(BluetoothAddress, Int)
    /// Notifications of a characteristic are on.
    case subscribed(BluetoothAddress, BluetoothUUID)
    /// They could not be switched on.
    case subscribeFailed(BluetoothAddress, BluetoothUUID, BluetoothError)
    /// The write was confirmed, or accepted where no confirmation was wanted.
    case written(BluetoothAddress)
    /// The write was refused.
    case writeFailed(BluetoothAddress, BluetoothError)
    /// A characteristic notified a value.
    case notified(BluetoothAddress, BluetoothUUID, [UInt8])

    /// The ATT MTU of every link before it is negotiated, and the largest that a characteristic can use.
    ///
    /// Source: Bluetooth Core Specification 5.3, volume 3, part F, 3.2.8 and 3.2.9; part G, 5.2.1.
    public static let mtuRange = 23...517
}
