public import Bluetooth
import EventLoop

/// A central with one radio, which is started and stopped. On the loop, as its `Central`.
///
/// Anything that implements it can be a radio of ``RadioCentral``.
public protocol RadioUnit: Central {
    /// The name of the adapter in use, such as `hci0`; nil while there is none.
    var adapterID: String? { get }
    /// Whether the radio can be used. It changes before the ends of links that it causes are reported.
    var state: CentralState { get }
    /// Why the radio cannot be used, or not fully; nil if it can, or if its adapter has a fault that says why.
    var fault: AdapterFault? { get }
    /// Called with each request before it is performed; nil unless the traffic is recorded.
    var onRequest: ((CentralRequest) -> Void)? { get set }
    /// The adapter that an earlier process has switched off to reset it.
    var switchedOff: BluetoothAddress? { get set }
    /// Called before an adapter is switched off to reset it, and with nil when it is on again.
    var onReset: (@LoopActor (BluetoothAddress?) async -> Void)? { get set }

    /// The devices whose links an earlier process has made and may not have ended. Set it before ``start()``: such a link is used
    /// if its device is to be connected, and ended otherwise.
    var formerLinks: Set<BluetoothAddress> { get set }
    /// After ``stop(within:)``: the devices whose links may still exist.
    var remainingLinks: Set<BluetoothAddress> { get }

    /// Starts reporting events.
    func start() async
    /// Delivers the values that were received and not delivered yet.
    func deliverReceived()
    /// Disconnects all devices, at most for the given time. Nothing is reported afterwards.
    func stop(within limit: Duration) async
}

extension RadioUnit {
    /// Empty: the links of a process end with it.
    public var formerLinks: Set<BluetoothAddress> {
        get { [] }
        set {}
    }
    /// Empty: no link outlives the process.
    public var remainingLinks: Set<BluetoothAddress> { [] }
}

// An extension, so that the methods keep the actor of the class.
extension RadioCentral: @LoopActor RadioUnit {}
