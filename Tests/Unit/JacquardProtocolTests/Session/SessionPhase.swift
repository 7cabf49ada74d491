import JacquardProtocol

/// Every state of a session that behaves in a way of its own.
enum SessionPhase: CaseIterable, Sendable {
    case stopped, linking, discovering, subscribing, hello, begin, tagInformation, configuring, connected
    /// Connected, with gear that is set up.
    case equipped
    /// Connected without gear, and a command waits for its answer, another behind it.
    case commanding
    /// The link is going down: before another attempt, before none, before a restart of the session.
    case closing, stopping, restarting
    /// Between two attempts.
    case waiting
    /// A bond is being made.
    case bonding

    /// Those in which a link is wanted and there or being made.
    static let attempts: [SessionPhase] = [.linking, .bonding, .discovering, .subscribing] + starting
    /// Those of the protocol's start.
    static let starting: [SessionPhase] = [.hello, .begin, .tagInformation, .configuring]
    /// Those in which commands reach the tag.
    static let online: [SessionPhase] = [.connected, .equipped, .commanding]
}

extension SessionFixture {
    /// A session that has come to a phase.
    init(in phase: SessionPhase, retrying rule: TagSession.RetryRule = .always) {
        self.init()
        switch phase {
        case .stopped: break
        case .closing: advance(to: .discovering, rule, then: .discoveryFailed(SampleTag.linkError))
        case .stopping: advance(to: .connected, rule, then: .disconnect)
        case .restarting: advance(to: .connected, rule, then: .disconnect, .connect(rule))
        case .waiting: advance(to: .linking, rule, then: .linkDown(SampleTag.linkError))
        case .bonding: for input in [SessionInput.pair, .linkUp] { _ = on(input) }
        case .equipped: equip()
        case .commanding:
            advance(to: .connected, rule)
            _ = notify(.attached(AttachedNotification()))
            for token in [1, 2] as [UInt64] { _ = on(.command(.batteryStatus, token: token)) }
        default: advance(to: phase, rule)
        }
    }

    private mutating func advance(to phase: SessionPhase, _ rule: TagSession.RetryRule, then inputs: SessionInput...) {
        let path: [(SessionPhase, [SessionInput])] = [
            (.linking, [.connect(rule)]),
            (.discovering, [.linkUp]),
            (.subscribing, [.discovered([.write, .writeWithoutResponse])]),
            (.hello, [.subscribed, .subscribed, .subscribed]),
        ]
        for (reached, inputs) in path {
            for input in inputs { _ = on(input) }
            if reached == phase { break }
        }
        let answers: [(SessionPhase, Response.Body?)] = [
            (.begin, SampleTag.hello), (.tagInformation, SampleTag.begin),
            (.configuring, .deviceInfo(SampleTag.information)), (.connected, SampleTag.configuration),
        ]
        for (reached, body) in answers where lastRequest != nil && phase != .hello {
            _ = confirmAndAnswer(body)
            // A tag announces its battery as soon as it is configured.
            if reached == .connected { _ = notify(.batteryStatus(SampleTag.battery)) }
            if reached == phase { break }
        }
        for input in inputs { _ = on(input) }
    }

    /// From the link on, all goes well.
    mutating func connect() {
        for input in [SessionInput.linkUp, .discovered([.write]), .subscribed, .subscribed, .subscribed] {
            _ = on(input)
        }
        for body in [SampleTag.hello, SampleTag.begin, .deviceInfo(SampleTag.information), SampleTag.configuration] {
            _ = confirmAndAnswer(body)
        }
        _ = notify(.batteryStatus(SampleTag.battery))
    }

    private mutating func equip() {
        advance(to: .connected, .always)
        _ = notify(.attached(SampleTag.gear()))
        _ = confirmAndAnswer(.dataChannel(DataChannelResponse(.gesture)))
        _ = confirmAndAnswer()
        _ = confirmAndAnswer(.deviceInfo(SampleTag.gearInformation))
    }
}
