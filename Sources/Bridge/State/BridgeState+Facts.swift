import JacquardProtocol

/// What the stacks below and beside the bridge say about themselves.
struct StackFacts: Hashable, Sendable {
    var bluezVersion: String?
    var protocolVersion: Int?
}

extension BridgeState {
    /// The adapters of this host are these.
    public mutating func adapters(_ list: [AdapterFacts], at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        adapters = list.sorted { $0.id < $1.id }
        return publish([adapterFact] + healthChanged(at: now))
    }

    /// The broker speaks this version of MQTT: the protocol level, 5, or 4 for 3.1.1.
    public mutating func broker(protocolVersion: Int) -> [BridgeAction] {
        guard !isStopped else { return [] }
        stack.protocolVersion = protocolVersion
        return publish([infoFact])
    }

    /// The Bluetooth stack has this version, such as `5.66`; nil while it is away.
    public mutating func bluez(version: String?) -> [BridgeAction] {
        guard !isStopped else { return [] }
        stack.bluezVersion = version
        return publish([infoFact])
    }

    /// The process has measured itself.
    public mutating func measured(_ measurement: HealthMeasurement, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        health.measured(measurement)
        return publish([healthFact(at: now)])
    }

    /// What is wrong may have changed.
    mutating func healthChanged(at now: Moment) -> [Publication] {
        var problems = Problem.problems(of: adapters)
        for tag in tags {
            guard let version = tag.component?.version, version.isKnownBad else { continue }
            let text = "Tag \(tag.entry.id) has firmware \(version), which is known to be bad"
            problems.insert(Problem(code: .badFirmware, text: text))
        }
        return health.found(problems, at: now) ? [healthFact(at: now)] : []
    }

    /// Everything about the bridge itself; that it is there comes first.
    func bridgeFacts(at now: Moment) -> [Publication] {
        [.fact(topics.state, word: "online"), infoFact, healthFact(at: now), adapterFact] + connectedTagsFact
    }

    var infoFact: Publication {
        .fact(
            topics.info,
            BridgeInfoDocument(
                version: configuration.version,
                instance: configuration.instance,
                started: startedAt.text,
                boot: boot,
                bluez: stack.bluezVersion,
                mqtt: stack.protocolVersion,
                tags: tags.map(\.entry.id.text)))
    }

    var adapterFact: Publication {
        .fact(topics.adapter, (adapters ?? []).map(AdapterDocument.init))
    }

    func healthFact(at now: Moment) -> Publication {
        .fact(topics.health, health.document(startedAt: startedAt, at: now))
    }
}
