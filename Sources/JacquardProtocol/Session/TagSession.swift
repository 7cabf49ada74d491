/// One tag as a machine: from the wish to be connected, over link, service and protocol, to gestures and commands, and
/// back after a loss. It knows no radio and no clock: what happens comes in with the time, what to do goes out.
///
/// A driver carries out the actions in their order, and calls ``deadlineReached(at:)`` at ``deadline``.
/// Source: protocol article, "Connection"; JacquardSDKiOS, `TagConnectionStateMachine` and `ProtocolInitializationStateMachine`.
public struct TagSession: Sendable {
    /// What the driver is to do.
    public enum Action: Hashable, Sendable {
        /// Make a link, as soon as the tag can be heard. Ends with `linkUp` or `linkDown`.
        case connect
        /// Drop the link or give up making it. Ends with `linkDown`.
        case disconnect
        /// Look for the service. Ends with `discovered` or `discoveryFailed`.
        case discover
        /// Switch notifications on. Ends with `subscribed` or `subscribeFailed`.
        case subscribe(TagCharacteristic)
        /// Write to the command characteristic. Ends with `written` or `writeFailed`.
        case write([UInt8], withResponse: Bool)
        /// Tell the world.
        case emit(TagEvent)
    }

    /// How long things may take.
    public struct Timing: Hashable, Sendable {
        /// From the beginning of an attempt until the three notifications are on. The SDK's 60 seconds.
        public var connect = Duration.seconds(60)
        /// For each answer of hello, begin and device information.
        public var start = Duration.seconds(2)
        /// For each answer after that.
        public var request = Duration.seconds(8)
        /// For the link to go down after we asked for it.
        public var close = Duration.seconds(10)
        /// For the tag to tell its gear after it was connected; then there is none. Real tags tell theirs at once, and
        /// whether they tell that there is none is not known.
        public var gearAnnouncement = Duration.seconds(2)
        /// A connection that lasted this long was a good one: the next loss begins with the shortest pause.
        public var stable = Duration.seconds(10)

        /// The SDK's values.
        public init() {}
    }

    enum State: Sendable {
        /// Nobody wants a connection.
        case stopped
        /// The next attempt begins then.
        case waiting(until: ContinuousClock.Instant)
        /// A link is being made.
        case linking(deadline: ContinuousClock.Instant)
        /// The service is being looked for.
        case discovering(deadline: ContinuousClock.Instant)
        /// Notifications are being switched on; so many are.
        case subscribing(deadline: ContinuousClock.Instant, confirmed: Int)
        /// Hello, begin, device information, configuration.
        case starting
        /// Commands reach the tag.
        case connected(since: ContinuousClock.Instant)
        /// The link is on its way down.
        case closing(deadline: ContinuousClock.Instant, then: Ending)
    }

    /// What comes after the link is down.
    enum Ending: Sendable {
        case retry(TagConnectionError)
        case stop(TagConnectionError?)
    }

    let timing: Timing
    let catalogue: GearCatalogue
    var state = State.stopped
    var link = Link()
    var schedule: ReconnectSchedule
    var attempt = 1
    var lastError: TagConnectionError?

    /// A session that is stopped.
    ///
    /// - Parameters:
    ///   - timing: how long things may take.
    ///   - catalogue: names and capabilities of gear.
    ///   - seed: for the random part of the pauses between attempts.
    public init(timing: Timing = Timing(), catalogue: GearCatalogue = .builtIn, seed: UInt64) {
        self.timing = timing
        self.catalogue = catalogue
        schedule = ReconnectSchedule(seed: seed)
    }

    /// Whether commands reach the tag.
    public var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// When ``deadlineReached(at:)`` is due next; nil while nothing is waited for.
    public var deadline: ContinuousClock.Instant? {
        switch state {
        case .stopped: nil
        case .waiting(let until): until
        case .linking(let deadline), .discovering(let deadline), .subscribing(let deadline, _): deadline
        case .closing(let deadline, _): deadline
        case .starting, .connected:
            [link.requests.inFlight?.deadline, link.gearDeadline].compactMap { $0 }.min()
        }
    }

    /// A time that was waited for has come, or may have: what is not due yet stays.
    public mutating func deadlineReached(at now: ContinuousClock.Instant) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .stopped: return []
        case .waiting: return startLinking(at: now)
        case .linking, .discovering, .subscribing:
            let seconds = timing.connect.components.seconds
            return close(
                then: .retry(TagConnectionError(.connectionTimeout, "no connection within \(seconds) s")), at: now)
        case .closing(_, let ending): return finish(ending, at: now)
        case .starting, .connected: return requestExpired(at: now) + gearAnnouncementMissed(at: now)
        }
    }
}
