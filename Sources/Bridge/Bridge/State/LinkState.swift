import JacquardProtocol
import Time

/// The connection of one tag: its state, whether it should be connected, and what was published about it.
struct LinkState: Sendable {
    /// The effect of a connection event.
    enum Change: Sendable {
        /// Progress that is not published now.
        case none
        /// Progress that is published now.
        case progress
        /// A new state; `isReconnect` if the tag is connected, and was before.
        case state(isReconnect: Bool)
    }

    /// The effects of a changed intent.
    struct Settlement: Sendable {
        /// The instruction for the driver: true to connect, false to disconnect, nil if it is unchanged.
        let isToConnect: Bool?
        /// Whether the state became `disconnected`.
        let isDisconnected: Bool
        /// Whether the tag's availability differs from the published one.
        let isAvailabilityChanged: Bool
        /// Whether it differs from what was published that the tag stays disconnected.
        let isHoldChanged: Bool
    }

    private(set) var connection: TagConnection
    /// When the connection entered its state.
    private(set) var since: Timestamp
    /// When the bridge began to wait for the tag; nil while it is connected or should not be.
    private(set) var requestedAt: Instant?
    private var lastFailure = LinkFailure()
    /// Why Bluetooth cannot be used, or not fully; nil if it can.
    var bluetoothFault: Cause?
    /// Whether the tag should be connected, and whether the driver was instructed to connect it.
    private(set) var intent: ConnectionIntent
    private var wasEverConnected = false
    private var sleep = LinkSleep()
    /// Whether a command expired because the tag could not be reached, and the tag has not been received since.
    private var isUnreached = false
    /// Whether no tag can be reached: Bluetooth is off, or the bridge is stopping.
    private var isOutOfService = false
    private var published = PublishedLink()
    /// How long the tag stays available without a link.
    var grace = LinkGrace()
    /// Connection progress is published at most ten times a second.
    private var progress = Throttle(every: .milliseconds(100))

    init(_ policy: TagEntry.ConnectPolicy, isHeld: Bool, isOutOfService: Bool, at now: Timestamp) {
        intent = ConnectionIntent(policy, isHeld: isHeld)
        connection = TagConnection(state: intent.isWanted ? .preparingToConnect : .disconnected, attempt: 0)
        since = now
        requestedAt = intent.isWanted ? now.instant : nil
        self.isOutOfService = isOutOfService
        published = PublishedLink(isAvailable: isAvailable, staysDisconnected: intent.staysDisconnected)
    }

    /// Why the last attempt failed; nil after a successful one.
    var failure: TagConnectionError? { lastFailure.error }

    /// When the last attempt failed.
    var failedAt: Timestamp? { lastFailure.at }

    /// Whether the tag sleeps until it is moved, because the user has requested that, and has not been received since.
    var waitsForMotion: Bool { sleep.waitsForMotion }

    /// Whether the tag is connected.
    var isConnected: Bool { connection.state == .connected }

    /// The cause of an error that follows from the state of Bluetooth; nil for any other error.
    func cause(of error: TagConnectionError) -> Cause? {
        let isConsequence =
            error.code == .bluetoothPowerOff || (isOutOfService && error.code == .bluetoothConnectionError)
        return isConsequence ? bluetoothFault : nil
    }

    /// The text of an error for people.
    func text(of error: TagConnectionError) -> String { cause(of: error)?.text ?? error.text }

    /// The remedy of an error.
    func hint(of error: TagConnectionError) -> String { cause(of: error)?.hint ?? error.code.hint }

    /// The goal of commands that the tag has reached; nil while it connects.
    var reachedGoal: TagGoal? {
        switch connection.state {
        case .connected: .connected
        case .disconnected: .disconnected
        case .preparingToConnect, .connecting, .initializing, .configuring: nil
        }
    }

    /// Whether commands can reach the tag: it is connected, or connects when a command arrives.
    var isAvailable: Bool {
        !isOutOfService && (isConnected || connectsOnDemand || grace.end != nil)
    }

    /// Whether the tag is expected to connect when a command arrives. The bridge does not scan for such a tag until then.
    var connectsOnDemand: Bool {
        intent.policy == .onDemand && !intent.isHeld && !lastFailure.isLasting && !isUnreached && !waitsForMotion
    }

    /// When the next timeout is due.
    var deadline: Instant? {
        var deadline = progress.due
        deadline.lower(to: intent.deadline)
        deadline.lower(to: grace.end)
        return deadline
    }
}

// MARK: Events

extension LinkState {
    /// Handles a connection event: a new state is published immediately, progress within a state at most ten times a
    /// second.
    mutating func changed(to new: TagConnection, at now: Timestamp) -> Change {
        var new = new
        let isProgress = new.state.word == connection.state.word
        if isConnected, new.state != .connected, fallsAsleep(at: now.instant) { new.error = nil }
        if waitsForMotion, !connection.state.isLinked { new.removeFailureOfSleepingTag(after: connection) }
        if new.error != nil, new.error != connection.error || new.attempt != connection.attempt { lastFailure.at = now }
        grace.connectionChanged(to: new.state, wasConnected: isConnected, at: now.instant)
        // It is tried again because a program has made a new bond, or the user has asked for it.
        if connection.state == .disconnected, !isProgress, failure?.code == .peerRemovedPairingInfo {
            lastFailure.forget()
        }
        connection = new
        switch new.state {
        case .preparingToConnect: requestedAt = requestedAt ?? now.instant
        case .connecting, .initializing, .configuring: break
        case .connected, .disconnected: requestedAt = nil
        }
        lastFailure.connectionChanged(error: new.error, isConnected: isConnected)
        if isProgress { return progress.admits(at: now.instant) ? .progress : .none }
        progress.happened(at: now.instant)
        since = now
        published.isAvailable = isAvailable
        guard isConnected else { return .state(isReconnect: false) }
        defer { wasEverConnected = true }
        received()
        return .state(isReconnect: wasEverConnected)
    }

    /// Handles elapsed time.
    ///
    /// - Returns: whether the tag is no longer available, because it has had no link for too long.
    mutating func endGrace(at now: Instant) -> Bool {
        guard grace.takeEnd(at: now) else { return false }
        defer { published.isAvailable = isAvailable }
        return published.isAvailable && !isAvailable
    }

    /// Handles any sign of life.
    mutating func received() {
        (isUnreached, sleep.waitsForMotion) = (false, false)
        // While attempts go on, only a connection shows that they succeed.
        if !intent.isWanted, failure?.code != .peerRemovedPairingInfo { lastFailure.isLasting = false }
    }

    /// Handles a command that expired because the tag could not be reached.
    mutating func commandExpired() {
        isUnreached = !isConnected
    }

    /// Handles a changed state of Bluetooth, which affects all connections.
    ///
    /// - Returns: whether the failure is over that Bluetooth was off, so that it is to be published.
    mutating func bluetoothChanged(isOutOfService: Bool) -> Bool {
        self.isOutOfService = isOutOfService
        intent.requestAgain()
        guard !isOutOfService, failure?.code == .bluetoothPowerOff else { return false }
        lastFailure.forget()
        if connection.error?.code == .bluetoothPowerOff { connection.error = nil }
        return true
    }

    /// Handles a new bond, which comes with a link.
    mutating func paired(at now: Instant) {
        lastFailure.forget()
        intent.need(at: now)
        intent.linked()
    }

    /// Handles the end of the bridge.
    mutating func stop(at now: Timestamp) {
        isOutOfService = true
        disconnected(at: now)
    }

    /// Handles elapsed time.
    ///
    /// - Returns: whether progress is to be published.
    mutating func deadlineReached(at now: Timestamp) -> Bool {
        progress.isDue(at: now.instant)
    }

    /// Sets the state to disconnected. Needed where no connection was begun, because no session reports it.
    private mutating func disconnected(at now: Timestamp) {
        if connection.state != .disconnected { since = now }
        requestedAt = nil
        connection = TagConnection(state: .disconnected, attempt: connection.attempt, error: connection.error)
        published.isAvailable = isAvailable
    }
}

// MARK: Intent

extension LinkState {
    /// Handles a changed policy of the configuration.
    mutating func setPolicy(_ policy: TagEntry.ConnectPolicy) {
        intent.policy = policy
    }

    /// Handles a disconnect by the user.
    mutating func hold() {
        intent.hold()
    }

    /// Handles a tag that disconnects by itself within this time, because the user has requested it.
    ///
    /// - Parameters:
    ///   - time: the time that the user has set.
    ///   - isLeftAlone: whether the tag advertises then, and would not sleep if it were connected again.
    ///   - now: the current time.
    mutating func sleeps(within time: Duration, isLeftAlone: Bool, at now: Instant) {
        sleep.expected = (TagSleep.endOfLink(ofTagThatSleepsIn: time, at: now), isLeftAlone)
    }

    /// Returns whether the end of the link is the requested one, which is no failure.
    private mutating func fallsAsleep(at now: Instant) -> Bool {
        defer { sleep.expected = nil }
        guard let expected = sleep.expected, expected.time.contains(now) else { return false }
        if expected.isLeftAlone { intent.rest(at: now) } else { sleep.waitsForMotion = true }
        return true
    }

    /// Handles a connect by the user, regardless of earlier attempts.
    mutating func release() {
        intent.release()
        if connection.state == .disconnected { intent.requestAgain() }
    }

    /// Repeats the instruction to connect: the driver has disconnected the tag for another reason.
    mutating func requestAgain() { intent.requestAgain() }

    /// Keeps the tag connected for a command.
    mutating func need(at now: Instant) {
        intent.need(at: now)
        if connection.state == .disconnected { intent.requestAgain() }
    }

    /// Connects a tag that falls asleep nevertheless, because commands wait for it.
    mutating func stayAwake() { intent.stayAwake() }

    /// Keeps the tag connected after a command has ended.
    mutating func commandEnded(at now: Instant) {
        intent.need(at: now)
    }

    /// Disconnects an on-demand tag after a time without commands, and connects a tag that was left alone.
    ///
    /// - Returns: whether that time has passed.
    mutating func restIfIdle(isBusy: Bool, at now: Instant) -> Bool {
        guard let until = intent.deadline, until <= now else { return false }
        intent.deadlineReached(at: now, isBusy: isBusy)
        return true
    }

    /// Applies a changed intent.
    mutating func settle(at now: Timestamp) -> Settlement {
        let isToConnect = intent.change()
        let isDisconnected =
            !intent.isWanted && connection.state == .preparingToConnect && connection.attempt == 0
        if isDisconnected { disconnected(at: now) }
        let earlier = published
        published = PublishedLink(isAvailable: isAvailable, staysDisconnected: intent.staysDisconnected)
        return Settlement(
            isToConnect: isToConnect, isDisconnected: isDisconnected,
            isAvailabilityChanged: earlier.isAvailable != published.isAvailable,
            isHoldChanged: earlier.staysDisconnected != published.staysDisconnected)
    }
}

// MARK: Parts

/// What was last published of a connection.
private struct PublishedLink {
    /// The last value of `T/availability`.
    var isAvailable = false
    /// `held` in `T/connection`.
    var staysDisconnected = false
}

/// The latest failure to connect a tag.
private struct LinkFailure {
    /// Why the last attempt failed; nil after a successful one.
    private(set) var error: TagConnectionError?
    /// When the last attempt failed.
    var at: Timestamp?
    /// Whether nothing has shown since that the next attempt may succeed.
    var isLasting = false

    /// Handles a connection event.
    mutating func connectionChanged(error new: TagConnectionError?, isConnected: Bool) {
        error = new ?? (isConnected ? nil : error)
        isLasting = error != nil && (new != nil || isLasting)
    }

    /// The next attempt may succeed.
    mutating func forget() { (error, isLasting) = (nil, false) }
}

/// A sleep of a tag that the user has requested.
private struct LinkSleep {
    /// When an end of the link is the requested one, and whether the tag is left alone then; nil if none is expected.
    var expected: (time: ClosedRange<Instant>, isLeftAlone: Bool)?
    /// Whether the tag sleeps until it is moved, and has not been received since.
    var waitsForMotion = false
}

/// How long a tag stays available after its link was lost, if it can be made again.
struct LinkGrace: Sendable {
    /// The whole time; zero: it does not stay available.
    var length = Duration.zero
    /// Until when the tag stays available without a link; nil if it has one, or does not stay available.
    private(set) var end: Instant?

    /// Handles a new state of the connection.
    fileprivate mutating func connectionChanged(
        to new: TagConnection.State, wasConnected: Bool, at now: Instant
    ) {
        switch new {
        case .connected, .disconnected: end = nil
        case .preparingToConnect, .connecting, .initializing, .configuring:
            if wasConnected, length > .zero { end = now + length }
        }
    }

    /// Returns whether it has ended.
    fileprivate mutating func takeEnd(at now: Instant) -> Bool {
        end.takeDue(at: now)
    }
}

/// Whether a tag should be connected, from the configuration, the user and the pending commands.
struct ConnectionIntent: Hashable, Sendable {
    /// How long an on-demand tag stays connected after its last command.
    static let idle = Duration.seconds(30)
    /// How long a tag that has disconnected at the user's request is left alone. It advertises for 60 s, and then sleeps
    /// until it is touched or moved.
    static let rest = Duration.seconds(70)

    /// The connection policy of the configuration.
    var policy: TagEntry.ConnectPolicy {
        didSet {
            if policy != .onDemand { neededUntil = nil }
            if policy != .always { restsUntil = nil }
        }
    }
    /// Whether the user has disconnected the tag.
    private(set) var isHeld: Bool
    /// On demand: how long the last command keeps the tag connected.
    private(set) var neededUntil: Instant?
    /// How long the tag is left alone; nil if it is not.
    private(set) var restsUntil: Instant?
    /// Whether the driver was last instructed to connect the tag.
    private var isRequested = false

    init(_ policy: TagEntry.ConnectPolicy, isHeld: Bool) {
        self.policy = policy
        self.isHeld = isHeld
    }

    /// Whether the tag should be connected now.
    var isWanted: Bool {
        switch policy {
        case .always: !isHeld && restsUntil == nil
        case .onDemand: !isHeld && neededUntil != nil
        case .never: false
        }
    }

    /// Whether it stays disconnected until the user, or the configuration, has it connected.
    var staysDisconnected: Bool { isHeld || policy == .never }

    /// When to call ``deadlineReached(at:isBusy:)``.
    var deadline: Instant? { restsUntil ?? neededUntil }

    /// Leaves the tag alone, so that it falls asleep. A command ends that.
    mutating func rest(at now: Instant) {
        if policy == .always { restsUntil = now + Self.rest }
        neededUntil = nil
    }

    /// Ends ``rest(at:)``.
    mutating func stayAwake() { restsUntil = nil }

    /// Handles a disconnect by the user, which lasts until ``release()``.
    mutating func hold() {
        isHeld = true
        neededUntil = nil
        restsUntil = nil
    }

    /// Handles a connect by the user.
    mutating func release() {
        isHeld = false
        restsUntil = nil
    }

    /// Keeps the tag connected for a command that is pending or has just ended.
    mutating func need(at now: Instant) {
        restsUntil = nil
        guard policy == .onDemand, !isHeld else { return }
        neededUntil = now + Self.idle
    }

    /// Handles elapsed time. Pending commands keep the tag connected.
    mutating func deadlineReached(at now: Instant, isBusy: Bool) {
        if let until = restsUntil, until <= now { restsUntil = nil }
        guard let until = neededUntil, until <= now else { return }
        neededUntil = isBusy ? now + Self.idle : nil
    }

    /// Handles a link that was made without an instruction: it is to be kept, or ended.
    mutating func linked() {
        isRequested = !isWanted
    }

    /// Repeats the instruction to connect, because the last one had no effect.
    mutating func requestAgain() {
        isRequested = false
    }

    /// Returns the instruction for the driver: true to connect, false to disconnect, nil if it is unchanged.
    mutating func change() -> Bool? {
        guard isWanted != isRequested else { return nil }
        isRequested = isWanted
        return isWanted
    }
}

extension LinkState {
    /// Returns why the connection has failed.
    func document(of error: TagConnectionError) -> ConnectionErrorDocument {
        ConnectionErrorDocument(error: error, text: text(of: error), hint: hint(of: error))
    }
}
