/// The states of the Bluetooth stack and the broker connection.
struct StackFacts: Hashable, Sendable {
    var bluezVersion: String?
    var protocolVersion: Int?
    /// nil until it is first reported.
    var bluetooth: AdapterFacts.State?
}

extension BridgeState {
    /// Handles a change of the state of Bluetooth. Requests the connections again, because their state reflects it
    /// while Bluetooth is off.
    ///
    /// Call this for every change, including the first state, and after the Bluetooth stack has processed it.
    public mutating func bluetooth(_ state: AdapterFacts.State, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        stack.bluetooth = state
        let ended = state == .poweredOn ? [] : scanEnded(because: "Bluetooth is \(state.text)", at: now)
        if state != .poweredOn { seen.removeAll() }
        let intents = tags.indices.flatMap { position in
            tags[position].isOutOfService = isOutOfService
            tags[position].intent.askAgain()
            return settle(position, at: now)
        }
        return publish(ended) + intents + beginWaitingRequests(at: now)
    }

    /// Handles a change of the list of adapters.
    public mutating func adapters(_ list: [AdapterFacts], at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        let events = adapterEvents(from: adapters, to: list, at: now)
        adapters = list.sorted { $0.id < $1.id }
        return publish([adapterFact] + events + healthChanged(at: now))
    }

    /// Returns an event for each adapter that became unavailable or was removed, and for each that returned. The first
    /// list causes no events.
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

    /// Handles the protocol level of the broker connection: 5, or 4 for MQTT 3.1.1.
    public mutating func broker(protocolVersion: Int) -> [BridgeAction] {
        guard !isStopped else { return [] }
        stack.protocolVersion = protocolVersion
        return publish([infoFact])
    }

    /// Handles the version of the Bluetooth stack, such as `5.66`; nil while it is not running.
    public mutating func bluez(version: String?) -> [BridgeAction] {
        guard !isStopped else { return [] }
        stack.bluezVersion = version
        return publish([infoFact])
    }

    /// Whether no tag can be reached because Bluetooth is unavailable.
    var isOutOfService: Bool { stack.bluetooth.map { $0 != .poweredOn } ?? false }

    /// Whether the state of Bluetooth is known. It is not immediately after the start.
    var isBluetoothKnown: Bool { (stack.bluetooth ?? .unknown) != .unknown }

    /// Throws if Bluetooth is unavailable.
    func checkBluetooth() throws(CommandFailure) {
        guard stack.bluetooth == .poweredOn else { throw .bluetooth(is: stack.bluetooth ?? .unknown) }
    }

    /// Returns all facts about the bridge itself; its state comes first.
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
