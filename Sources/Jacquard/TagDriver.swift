import Bluetooth
import EventLoop
import JacquardProtocol

/// Carries out what one tag's session decides, and tells the session what happens. Decides nothing.
@LoopActor
final class TagDriver {
    let identity: TagIdentity
    /// The address on the air; nil until the tag has been heard.
    private(set) var address: BluetoothAddress?
    /// Whether the session waits for a link.
    var isLooking: Bool { session.isLinking }
    private(set) var session: TagSession
    /// When it was last heard at its address.
    var lastHeard: ContinuousClock.Instant?

    private let central: any Central
    private let onEvent: (TagEvent) -> Void
    /// Called when the session begins or ceases to wait for a link.
    private let onLooking: () -> Void
    private var armed: ContinuousClock.Instant?
    private lazy var timer = LoopTimer { [unowned self] in
        armed = nil
        drive { session, now in session.deadlineReached(at: now) }
    }

    init(
        _ identity: TagIdentity, session: TagSession, central: any Central,
        onEvent: @escaping (TagEvent) -> Void, onLooking: @escaping () -> Void
    ) {
        self.identity = identity
        self.session = session
        self.central = central
        self.onEvent = onEvent
        self.onLooking = onLooking
        address = identity.address
    }

    /// The tag was heard at this address.
    func heard(at address: BluetoothAddress) {
        self.address = address
        if isLooking { central.perform(.connect(address)) }
    }

    /// Forgets an address at which the tag is not any more.
    func forgetAddress() {
        guard let address, identity.address == nil else { return }
        if isLooking { central.perform(.disconnect(address)) }
        self.address = nil
    }

    /// Lets the session take an event and carries out what it wants done.
    func drive(_ event: (inout TagSession, ContinuousClock.Instant) -> [TagSession.Action]) {
        let wasLooking = isLooking
        for action in event(&session, .now) { perform(action) }
        if isLooking != wasLooking { onLooking() }
        guard armed != session.deadline else { return }
        armed = session.deadline
        timer.arm(at: armed)
    }

    /// What the central tells of our address.
    func handle(_ event: CentralEvent) {
        switch event {
        case .notified(_, let uuid, let value):
            guard let characteristic = JacquardGATT.characteristic(uuid) else { return }
            drive { session, now in session.received(value, on: characteristic, at: now) }
        case .written: drive { session, now in session.written(at: now) }
        case .writeFailed(_, let error):
            drive { session, now in
                session.writeFailed(TagConnectionError(error), isNotPermitted: error.code == .notPermitted, at: now)
            }
        case .connected:
            drive { session, now in session.linkUp(at: now) }
        case .disconnected(_, let error):
            drive { session, now in session.linkDown(error.map { TagConnectionError($0) }, at: now) }
        case .characteristicsDiscovered(_, let found):
            let properties = Self.properties(of: found[JacquardGATT.uuid(.command)] ?? [])
            drive { session, now in session.discovered(properties, at: now) }
        case .discoveryFailed(_, let error):
            drive { session, now in session.discoveryFailed(TagConnectionError(error), at: now) }
        case .subscribed: drive { session, now in session.subscribed(at: now) }
        case .subscribeFailed(_, _, let error):
            let error = TagConnectionError(.bluetoothNotificationUpdateError, error)
            drive { session, now in session.subscribeFailed(error, at: now) }
        case .paired: drive { session, now in session.bonded(at: now) }
        case .pairFailed(_, let error):
            drive { session, now in session.bondingFailed(TagConnectionError(error), at: now) }
        case .stateChanged, .adaptersChanged, .scanning, .discovered, .forgotten: break
        }
    }

    private func perform(_ action: TagSession.Action) {
        switch action {
        case .emit(let event): onEvent(event)
        case .connect:
            if let address { central.perform(.connect(address)) }
        case .disconnect: disconnect()
        case .bond: ask { .pair($0) }
        case .discover:
            ask { .discover(JacquardGATT.service, characteristics: JacquardGATT.characteristics, of: $0) }
        case .subscribe(let characteristic): ask { .subscribe(JacquardGATT.uuid(characteristic), of: $0) }
        case .write(let value, let withResponse):
            ask {
                .write(
                    value, to: JacquardGATT.uuid(.command), of: $0, withResponse ? .withResponse : .withoutResponse)
            }
        }
    }

    private func ask(_ request: (BluetoothAddress) -> CentralRequest) {
        if let address { central.perform(request(address)) }
    }

    /// A tag that was never heard has no link to drop: its session is told so in a later turn, like any other.
    private func disconnect() {
        if let address { return central.perform(.disconnect(address)) }
        EventLoop.shared.atEndOfTurn { [weak self] in self?.drive { session, now in session.linkDown(nil, at: now) } }
    }

    private static func properties(of properties: CharacteristicProperties) -> TagSession.Properties {
        var result: TagSession.Properties = []
        if properties.contains(.write) { result.insert(.write) }
        if properties.contains(.writeWithoutResponse) { result.insert(.writeWithoutResponse) }
        return result
    }
}
