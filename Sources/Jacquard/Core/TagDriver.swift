import Bluetooth
import EventLoop
import JacquardProtocol
import Time

/// Carries out what one tag's session decides, and tells the session what happens. Decides nothing.
@LoopActor
final class TagDriver {
    /// What becomes of a driver whose tag nobody wants any more.
    enum Place {
        /// It may be wanted again, and its address is known.
        case kept
        /// The stack has been asked to forget the tag, which it may refuse.
        case leaving
        /// It has forgotten it.
        case forgotten
    }

    let identity: TagIdentity
    /// The address on the air; nil until the tag has been heard.
    private(set) var address: BluetoothAddress?
    private(set) var session: TagSession
    private(set) var facts = TagFacts()
    /// When it last gave a sign of life at its address: heard, linked or unlinked.
    var lastSign: Instant?
    /// Whether this host has a bond with it.
    var isPaired = false
    /// Whether a bond is being made on a user's wish.
    var isPairing = false
    /// Whether its place here outlives its session.
    var place = Place.kept

    /// Whether the session waits for a link.
    var isLooking: Bool { session.isLinking }

    private let central: any Central
    private let onEvent: @LoopActor (TagEvent) -> Void
    /// Called when the session begins or ceases to wait for a link, and when it stops.
    private let onChange: @LoopActor (TagDriver) -> Void
    private var told = (isLooking: false, isStopped: true)
    private var isPerforming = false
    private var pending: [TagSession.Action] = []
    private lazy var timer = LoopTimer { [unowned self] in
        drive { session, now in session.deadlineReached(at: now) }
    }

    init(
        _ identity: TagIdentity, session: TagSession, central: any Central,
        onEvent: @escaping @LoopActor (TagEvent) -> Void, onChange: @escaping @LoopActor (TagDriver) -> Void
    ) {
        self.identity = identity
        self.session = session
        self.central = central
        self.onEvent = onEvent
        self.onChange = onChange
        address = identity.address
    }

    /// The tag was found at this address.
    func found(at address: BluetoothAddress) {
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
    ///
    /// Whoever is told of something may ask for something else at once: that is done after what was decided before.
    func drive(_ event: (inout TagSession, Instant) -> [TagSession.Action]) {
        let actions = event(&session, .now)
        guard !isPerforming else { return pending += actions }
        isPerforming = true
        for action in actions { perform(action) }
        while !pending.isEmpty {
            let next = pending
            pending = []
            for action in next { perform(action) }
        }
        isPerforming = false
        timer.arm(at: session.deadline)
        tellChange(session.isLinking)
    }

    private func tellChange(_ isLooking: Bool) {
        guard isLooking != told.isLooking || facts.isStopped != told.isStopped else { return }
        told = (isLooking, facts.isStopped)
        onChange(self)
    }

    private func perform(_ action: TagSession.Action) {
        switch action {
        case .emit(let event):
            facts.take(event)
            onEvent(event)
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
}
