import JacquardProtocol

// MARK: What is wrong

extension BridgeState {
    /// The process has measured itself; to be told once a minute or so, because some problems end by themselves.
    public mutating func measured(_ measurement: HealthMeasurement, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        health.measured(measurement, at: now.instant)
        _ = healthChanged(at: now)
        return publish([healthFact(at: now)])
    }

    /// The broker does not let the bridge listen: it is deaf to the filter until the next connection.
    public mutating func brokerRefused(subscription filter: String, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        health.refusals.refused(subscription: filter)
        return publish(healthChanged(at: now))
    }

    /// The broker has refused a message to a topic of the bridge.
    ///
    /// - Parameters:
    ///   - topic: where the message should have gone.
    ///   - reason: the broker's, such as `not_authorized`.
    ///   - now: the present.
    /// - Returns: what to tell about it.
    public mutating func brokerRefused(
        messageTo topic: String, _ reason: String, at now: Moment
    ) -> [BridgeAction] {
        guard !isStopped else { return [] }
        health.refusals.refused(messageTo: topic, reason, at: now.instant)
        return publish(healthChanged(at: now))
    }

    /// The ``Outbox`` has lost messages (``Outbox/takeLosses()``).
    public mutating func lost(_ losses: Outbox.Losses, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        health.lost(losses, at: now.instant)
        let stats = tags.indices.flatMap { index in
            losses.events[tags[index].topics.gesture].map { tags[index].gesturesExpired($0, at: now) } ?? []
        }
        return publish(stats + healthChanged(at: now))
    }

    /// What is wrong may have changed.
    mutating func healthChanged(at now: Moment) -> [Publication] {
        var problems = Problem.problems(of: adapters) + tags.flatMap(\.problems) + health.problems(at: now)
        for serial in seen.doubledSerials(at: now) where isKnown(serial: serial) && !isShared(serial: serial) {
            let text =
                "Several devices show the serial \(serial); the bridge stays with the one it knows. If both are your tags, "
                + "list both in the configuration, with address and id. If the tag has another address now, forget it and "
                + "pair it again"
            problems.append(Problem(.duplicateSerial, about: serial, text))
        }
        return health.found(problems, at: now) ? [healthFact(at: now)] : []
    }

    /// The document of `G/health`.
    func healthDocument(at now: Moment) -> HealthDocument {
        health.document(startedAt: startedAt, at: now)
    }

    func healthFact(at now: Moment) -> Publication {
        .fact(topics.health, healthDocument(at: now))
    }
}

extension TagMirror {
    /// What a person should look at: not that a tag is away, but that it will not come by itself.
    fileprivate var problems: [Problem] {
        var problems: [Problem] = []
        if let version = component?.version, version.isKnownBad {
            let text = "Tag \(entry.id) has firmware \(version), which is known to be bad"
            problems.append(Problem(.badFirmware, about: entry.id.text, text))
        }
        if let failure, let code = Problem.Code(failure.code), !wish.isHeld {
            problems.append(
                Problem(code, about: entry.id.text, "Tag \(entry.id): \(failure.text). \(failure.code.hint)"))
        }
        return problems
    }
}

extension Problem.Code {
    /// The problem that a failed connection is; nil for what ends by itself.
    fileprivate init?(_ code: TagConnectionError.Code) {
        switch code {
        case .peerRemovedPairingInfo: self = .lostBond
        case .inUse: self = .inUse
        case .subscriptionStuck: self = .subscriptionStuck
        case .serviceDiscoveryError, .characteristicDiscoveryError, .bluetoothNotificationUpdateError,
            .unconnectableTag, .jacquardInitializationError, .malformedResponseError:
            self = .tagUnusable
        case .internalError, .unknownBluetoothError, .bluetoothConnectionError, .bluetoothDeviceNotFound,
            .bluetoothPowerOff, .connectionTimeout:
            return nil
        }
    }
}
