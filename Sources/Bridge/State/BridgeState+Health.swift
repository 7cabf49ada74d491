import JacquardProtocol

// MARK: Problems

extension BridgeState {
    /// Handles a measurement of the process. Call this about once a minute, because some problems end with time.
    public mutating func measured(_ measurement: HealthMeasurement, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        health.measured(measurement, at: now.instant)
        _ = healthChanged(at: now)
        return publish([healthFact(at: now)])
    }

    /// Handles a refused subscription: no messages arrive for the filter until the next connection.
    public mutating func brokerRefused(subscription filter: String, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        health.rejectedTopics.refused(subscription: filter)
        return publish(healthChanged(at: now))
    }

    /// Handles a message to one of the bridge's topics that the broker has refused.
    ///
    /// - Parameters:
    ///   - topic: the topic of the message.
    ///   - reason: the broker's reason, such as `not_authorized`.
    ///   - now: the current time.
    /// - Returns: the publications that report it.
    public mutating func brokerRefused(
        messageTo topic: String, _ reason: String, at now: Moment
    ) -> [BridgeAction] {
        guard !isStopped else { return [] }
        health.rejectedTopics.refused(messageTo: topic, reason, at: now.instant)
        return publish(healthChanged(at: now))
    }

    /// Handles losses of the ``Outbox`` (``Outbox/takeLosses()``).
    public mutating func lost(_ losses: Outbox.Losses, at now: Moment) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        health.lost(losses, at: now.instant)
        let stats = tags.indices.flatMap { index in
            losses.events[tags[index].topics.gesture].map { tags[index].gesturesExpired($0, at: now) } ?? []
        }
        return publish(stats + healthChanged(at: now))
    }

    /// Publishes the health document if the problems have changed.
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

    /// Returns the document of `G/health`.
    func healthDocument(at now: Moment) -> HealthDocument {
        health.document(startedAt: startedAt, at: now)
    }

    func healthFact(at now: Moment) -> Publication {
        .fact(topics.health, healthDocument(at: now))
    }
}

extension TagMirror {
    /// Problems that need attention. A disconnected tag is not one, unless it cannot reconnect without help.
    fileprivate var problems: [Problem] {
        var problems: [Problem] = []
        if let version = component?.version, version.isKnownBad {
            let text = "Tag \(entry.id) has firmware \(version), which is known to be bad"
            problems.append(Problem(.badFirmware, about: entry.id.text, text))
        }
        if let failure, let code = Problem.Code(failure.code), !intent.isHeld {
            problems.append(
                Problem(code, about: entry.id.text, "Tag \(entry.id): \(failure.text). \(failure.code.hint)"))
        }
        return problems
    }
}

extension Problem.Code {
    /// Creates the problem of a failed connection; nil for failures that end without intervention.
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
