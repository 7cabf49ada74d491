import Time

/// One tag as a machine: from the wish to be connected, over link, service and protocol, to gestures and commands, and
/// back after a loss. It knows no radio and no clock: what happens comes in with the time, what to do goes out.
///
/// A driver carries out the actions in their order, and calls ``deadlineReached(at:)`` at ``deadline``. An event that
/// does not fit the state, such as a late one of a link that is gone, changes nothing.
/// Source: protocol article, "Steps"; JacquardSDKiOS, `TagConnectionStateMachine` and `ProtocolInitializationStateMachine`.
public struct TagSession: Sendable {
    /// What the driver is to do.
    public enum Action: Hashable, Sendable {
        /// Make a link, as soon as the tag can be heard. Ends with `linkUp` or `linkDown`.
        case connect
        /// Drop the link or give up making it. Ends with `linkDown`.
        case disconnect
        /// Make a bond on the link. Ends with `bonded` or `bondingFailed`.
        case bond
        /// Look for the service. Ends with `discovered` or `discoveryFailed`.
        case discover
        /// Switch notifications on. Ends with `subscribed` or `subscribeFailed`.
        case subscribe(TagCharacteristic)
        /// Write to the command characteristic. Ends with `written` or `writeFailed`; until then there is no other.
        case write([UInt8], withResponse: Bool)
        /// Tell the world.
        case emit(TagEvent)
    }

    let timing: Timing
    var catalogue: GearCatalogue
    var state = State.stopped
    var link = Link()
    var schedule: ReconnectSchedule
    var retryRule = RetryRule.always
    /// Whether a bond is to be made before anything else.
    var wantsBond = false
    /// How many attempts have failed since the tag was last connected.
    var failures = 0

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

    /// Whether it uses a link, from the search for the service on; not while a bond is being made before that.
    public var usesLink: Bool {
        switch state {
        case .discovering, .subscribing, .starting, .connected: true
        case .stopped, .waiting, .linking, .bonding, .closing: false
        }
    }

    /// Whether it waits for a link.
    public var isLinking: Bool {
        if case .linking = state { true } else { false }
    }

    /// Whether it takes its link down and stops then, as far as is known now.
    public var isStopping: Bool {
        if case .closing(_, .stop) = state { true } else { false }
    }

    func emit(
        _ state: TagConnection.State, _ error: TagConnectionError? = nil, retryAt: Instant? = nil
    ) -> Action {
        .emit(.connection(TagConnection(state: state, attempt: failures + 1, error: error, retryAt: retryAt)))
    }
}

/// What a tag's session tells the world, in the order in which it happened.
public enum TagEvent: Hashable, Sendable {
    /// The connection changed.
    case connection(TagConnection)
    /// The tag told what it is; for every connection before `connected`, and again when asked.
    case information(Component)
    /// The tag told its battery, asked or unasked.
    case battery(BatteryStatus)
    /// Gear was attached (again with more known of it), or none is.
    case gear(Component?)
    /// The attached gear now reports this.
    case touchMode(TouchMode)
    /// A gesture was made.
    case gesture(Gesture)
    /// A touch was sampled.
    case touch(TouchData)
    /// A packet of the tag was thrown away because a fragment was missing or wrong.
    case fragmentsLost
    /// A command has ended, as the only answer to it.
    case commandEnded(token: UInt64, Result<TagCommandAnswer, TagCommandError>)
}
