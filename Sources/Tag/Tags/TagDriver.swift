import Bluetooth
import EventLoop
import JacquardProtocol
import Time

/// Performs the actions of one tag's session and passes events to it. Makes no decisions.
@LoopActor
final class TagDriver {
    /// Whether the driver is kept after its session has stopped.
    enum Retention {
        /// Kept: it holds the tag's address for the next connection.
        case kept
        /// A request to forget the tag is in progress. The stack may refuse it.
        case forgetting
        /// The tag is forgotten, and the driver is removed.
        case forgotten
    }

    let row: TagRow
    /// The tag's Bluetooth address; nil until the tag was found.
    private(set) var address: BluetoothAddress?
    private(set) var session: TagSession
    private(set) var facts = TagFacts()
    /// When the tag was last active at its address: advertised, connected or disconnected.
    var lastSign: Instant?
    /// Whether this host has a bond with the tag.
    var isPaired = false {
        didSet { if isPaired, !oldValue, session.waitsForBond { drive { $0.bondRenewed(at: $1) } } }
    }
    /// Whether the user is pairing the tag.
    var isPairing: Bool
    var retention = Retention.kept

    /// Whether the session waits for a link.
    private(set) var isLooking = false

    private let central: any Central
    private unowned let owner: TagManager
    /// What the owner was told last; nil before that.
    private var reported: (isLooking: Bool, isStopped: Bool)?
    /// That of ``facts``, whose accesses are checked at run time. Read after every event.
    private var isStopped: Bool
    private var isPerforming = false
    private var pending: [TagSession.Action] = []
    /// The session's deadline after the last event.
    private var deadline: Instant?
    private lazy var timer = LoopTimer { [unowned self] in
        drive { session, now in session.deadlineReached(at: now) }
    }

    private lazy var linkEnd = EndOfTurnSource { [unowned self] in
        drive { session, now in session.linkDown(nil, at: now) }
    }

    init(_ row: TagRow, session: TagSession, of owner: TagManager) {
        self.row = row
        self.session = session
        self.owner = owner
        central = owner.central
        address = row.identity.address
        isPairing = row.pairing != nil
        isStopped = facts.isStopped
    }

    /// Sets the address at which the tag was found, and connects if the session waits for a link.
    func found(at address: BluetoothAddress) {
        self.address = address
        if isLooking { central.perform(.connect(address)) }
    }

    /// Passes an event to the session and performs the returned actions.
    ///
    /// A handler may call this again while actions are performed. The new actions are performed after the earlier ones.
    func drive(_ event: (inout TagSession, Instant) -> [TagSession.Action]) {
        let now = Instant.now
        perform(apply(event, to: &session, at: now), at: now)
    }

    /// Reads the session in place: reading it as a property would copy it for each event.
    private func apply(
        _ event: (inout TagSession, Instant) -> [TagSession.Action], to session: inout TagSession, at now: Instant
    ) -> [TagSession.Action] {
        let actions = event(&session, now)
        (deadline, isLooking) = session.expectation()
        return actions
    }

    /// Not inlined: the compiler would copy it for each kind of event.
    @inline(never)
    private func perform(_ actions: consuming [TagSession.Action], at now: Instant) {
        guard !isPerforming else { return pending += actions }
        // Kept: whoever gets an event may release the manager.
        let owner = owner
        isPerforming = true
        repeat {
            // The last one moves out of its list; each other way of reading copies it.
            actions.reverse()
            while let action = actions.popLast() { perform(action, of: owner, at: now) }
            swap(&actions, &pending)
        } while !actions.isEmpty
        isPerforming = false
        timer.arm(at: deadline)
        reportChange(to: owner)
    }

    private func reportChange(to owner: TagManager) {
        let current = (isLooking, isStopped)
        if let reported, reported == current { return }
        reported = current
        owner.changed(self)
    }

    private func perform(_ action: TagSession.Action, of owner: TagManager, at now: Instant) {
        switch action {
        case .emit(let event):
            facts.update(with: event)
            if case .connection = event { isStopped = facts.isStopped }
            owner.emit(event, of: row, at: now)
        case .connect:
            if let address { central.perform(.connect(address)) }
        case .disconnect: disconnect()
        case .bond: request { .pair($0) }
        case .discover:
            request { .discover(JacquardGATT.service, characteristics: JacquardGATT.characteristics, of: $0) }
        case .subscribe(let characteristic): request { .subscribe(JacquardGATT.uuid(characteristic), of: $0) }
        case .writeRaw(let value): request { .write(value, to: JacquardGATT.uuid(.rawData), of: $0, .withoutResponse) }
        case .write(let value, let withResponse):
            request {
                .write(
                    value, to: JacquardGATT.uuid(.command), of: $0, withResponse ? .withResponse : .withoutResponse)
            }
        }
    }

    private func request(_ request: (BluetoothAddress) -> CentralRequest) {
        if let address { central.perform(request(address)) }
    }

    /// Disconnects the tag. Without an address there is no link, and the session gets `linkDown` at the end of the
    /// turn.
    private func disconnect() {
        if let address { return central.perform(.disconnect(address)) }
        linkEnd.request()
    }
}
