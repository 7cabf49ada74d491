import Time

/// State machine of one tag: connecting, protocol start, commands, notifications and reconnecting.
///
/// Each method takes an event and the current time, and returns the actions to perform. A driver performs them in
/// order, and
/// calls ``deadlineReached(at:)`` at ``deadline``. Events that do not fit the state, such as a late event of an earlier
/// link, are ignored.
/// Source: protocol article, "Steps"; JacquardSDKiOS, `TagConnectionStateMachine` and `ProtocolInitializationStateMachine`.
public struct TagSession: Sendable {
    /// An action of the driver.
    public enum Action: Hashable, Sendable {
        /// Make a link as soon as the tag advertises. Ends with `linkUp` or `linkDown`.
        case connect
        /// Drop the link or cancel the attempt to make one. Ends with `linkDown`.
        case disconnect
        /// Make a bond on the link. Ends with `bonded` or `bondingFailed`.
        case bond
        /// Discover the service. Ends with `discovered` or `discoveryFailed`.
        case discover
        /// Enable notifications. Ends with `subscribed` or `subscribeFailed`.
        case subscribe(TagCharacteristic)
        /// Write to the command characteristic. Ends with `written` or `writeFailed`; no other write comes
        /// before that.
        case write([UInt8], withResponse: Bool)
        /// Report an event.
        case emit(TagEvent)
    }

    let timing: Timing
    var catalogue: GearCatalogue
    var state = State.stopped
    var link = Link()
    var schedule: ReconnectSchedule
    var retryRule = RetryRule.always
    /// Whether to make a bond on the next link.
    var wantsBond = false
    /// The number of failed attempts since the tag was last connected.
    var failures = 0

    /// Creates a stopped session.
    ///
    /// - Parameters:
    ///   - timing: timeouts and intervals.
    ///   - catalogue: names and capabilities of gear.
    ///   - seed: seed of the jitter of the pauses between attempts.
    public init(timing: Timing = Timing(), catalogue: GearCatalogue = .builtIn, seed: UInt64) {
        self.timing = timing
        self.catalogue = catalogue
        schedule = ReconnectSchedule(seed: seed)
    }

    /// Whether the tag accepts commands.
    public var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// Whether the session uses a link: from service discovery on, not while a bond is being made before it.
    public var usesLink: Bool {
        switch state {
        case .discovering, .subscribing, .starting, .connected: true
        case .stopped, .waiting, .linking, .bonding, .closing: false
        }
    }

    /// Whether the session waits for a link.
    public var isLinking: Bool {
        if case .linking = state { true } else { false }
    }

    /// Whether the session is disconnecting and will then stop.
    public var isStopping: Bool {
        if case .closing(_, .stop) = state { true } else { false }
    }

    func emit(
        _ state: TagConnection.State, _ error: TagConnectionError? = nil, retryAt: Instant? = nil
    ) -> Action {
        .emit(.connection(TagConnection(state: state, attempt: failures + 1, error: error, retryAt: retryAt)))
    }
}

/// An event of a tag's session.
public enum TagEvent: Hashable, Sendable {
    /// The connection changed.
    case connection(TagConnection)
    /// The tag's device information: before `connected` in each connection, and after each request for it.
    case information(Component)
    /// The battery status, requested or not.
    case battery(BatteryStatus)
    /// Gear was attached or detached, or more is known about it; nil if no gear is attached.
    case gear(Component?)
    /// The touch mode of the attached gear changed.
    case touchMode(TouchMode)
    /// A gesture.
    case gesture(Gesture)
    /// A touch sample.
    case touch(TouchData)
    /// A packet from the tag was dropped because a fragment was missing or invalid.
    case fragmentsLost
    /// A command has ended. Sent exactly once per command.
    case commandEnded(token: UInt64, Result<TagCommandAnswer, TagCommandError>)
}
