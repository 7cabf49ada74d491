/// What the stacks below and beside the bridge say about themselves.
struct StackFacts: Hashable, Sendable {
    var bluezVersion: String?
    var protocolVersion: Int?
    /// nil before the first word.
    var bluetooth: AdapterFacts.State?
}

extension BridgeState {
    /// Bluetooth as a whole is so now. The wanted tags are asked for again: while it is off, their state says so.
    ///
    /// To be told at every change, the first included, and after the Bluetooth stack itself knows.
    public mutating func bluetooth(_ state: AdapterFacts.State, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        stack.bluetooth = state
        let ended = state == .poweredOn ? [] : scanEnded(because: "Bluetooth is \(state.text)", at: now)
        if state != .poweredOn { seen.removeAll() }
        let wishes = tags.indices.flatMap { position in
            tags[position].isOutOfService = isOutOfService
            tags[position].wish.askAgain()
            return settle(position, at: now)
        }
        return publish(ended) + wishes + beginWaitingRequests(at: now)
    }

    /// The adapters of this host are these.
    public mutating func adapters(_ list: [AdapterFacts], at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        let events = adapterEvents(from: adapters, to: list, at: now)
        adapters = list.sorted { $0.id < $1.id }
        return publish([adapterFact] + events + healthChanged(at: now))
    }

    /// An adapter is lost when it was ready and is not, or is gone; the first list loses and brings none.
    private func adapterEvents(from old: [AdapterFacts]?, to new: [AdapterFacts], at now: Moment) -> [Publication] {
        guard let old else { return [] }
        let wereReady = Set(old.filter { $0.state == .poweredOn }.map(\.id))
        let areReady = Set(new.filter { $0.state == .poweredOn }.map(\.id))
        let lost = wereReady.subtracting(areReady).sorted().map { id in
            let state = new.first { $0.id == id }?.state.text ?? "gone"
            return event(.adapterLost, adapter: id, text: "Bluetooth adapter \(id) is \(state)", at: now)
        }
        return lost + areReady.subtracting(wereReady).sorted().map { event(.adapterBack, adapter: $0, at: now) }
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

    /// Whether no tag can be reached because of Bluetooth.
    var isOutOfService: Bool { stack.bluetooth.map { $0 != .poweredOn } ?? false }

    /// Whether Bluetooth has said how it is; it has not in the first moments.
    var isBluetoothKnown: Bool { (stack.bluetooth ?? .unknown) != .unknown }

    /// Refuses what cannot be done without Bluetooth.
    func checkBluetooth() throws(CommandFailure) {
        guard stack.bluetooth == .poweredOn else { throw .bluetooth(is: stack.bluetooth ?? .unknown) }
    }

    /// Everything about the bridge itself; that it is there comes first.
    func bridgeFacts(at now: Moment) -> [Publication] {
        [.fact(topics.state, word: "online"), infoFact, healthFact(at: now), adapterFact, scanFact] + connectedTagsFact
            + pairingFact + foundFact
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
                tags: tags.map(\.entry.id.text),
                connected: tags.filter(\.isConnected).map(\.entry.id.text)))
    }

    var adapterFact: Publication {
        .fact(topics.adapter, (adapters ?? []).map(AdapterDocument.init))
    }
}
