import JacquardProtocol
import Time

// MARK: Problems

extension TagMirror {
    /// Problems that need attention. A disconnected tag is not one, unless it cannot reconnect without help.
    var problems: [Problem] {
        var problems: [Problem] = []
        if let version = component?.version, version.isKnownBad {
            let text = "Tag \(entry.id) has firmware \(version), which is known to be bad"
            problems.append(Problem(.badFirmware, about: entry.id.text, text))
        }
        if let missingBond { problems.append(missingBond) }
        if let failure = link.failure, let code = Problem.Code(failure.code), !link.intent.isHeld {
            problems.append(
                Problem(code, about: entry.id.text, "Tag \(entry.id): \(failure.text). \(link.hint(of: failure))"))
        }
        return problems
    }

    /// The problem of a tag that only radios without a bond receive.
    private var missingBond: Problem? {
        guard let radios = radios?.withoutBond, let first = radios.first else { return nil }
        return Problem(
            .noBondHere, about: entry.id.text,
            "Tag \(entry.id) is received by \(radios.joined(separator: ", ")) only, without a bond. "
                + "Pair it: jacquard2mqtt pair \(entry.serial) --radio \(first)")
    }
}

// MARK: Failures of commands

extension TagMirror {
    /// The user has disconnected the tag.
    var heldFailure: CommandFailure {
        CommandFailure(
            .notPermitted, "Tag \(entry.id) was disconnected by the user",
            hint: "Publish connect to the tag's connection/set, or run jacquard2mqtt connection \(entry.id) connect")
    }

    /// Points to the capabilities of the attached gear.
    var gearHint: String { "\(topics[.gear]) lists what the attached gear can do" }

    /// The tag is not connected.
    ///
    /// - Parameters:
    ///   - obstacle: why Bluetooth cannot be used; nil if it is powered on.
    ///   - now: the current time.
    /// - Returns: the failure.
    func offlineFailure(obstacle: CommandObstacle?, at now: Timestamp) -> CommandFailure {
        if let failure = inUseFailure ?? unconnectableFailure { return failure }
        if let obstacle {
            return CommandFailure(
                .tagOffline, "\(obstacle.text), so tag \(entry.id) is not connected", hint: obstacle.hint)
        }
        let hint =
            entry.connect == .onDemand
            ? "the tag connects on demand: allow time with ttl_ms; " + lastSeenHint(at: now)
            : lastSeenHint(at: now)
        return CommandFailure(.tagOffline, "Tag \(entry.id) is not connected", hint: hint)
    }

    /// The command expired while the tag was not connected.
    func expiredFailure(
        of command: PendingCommand, obstacle: CommandObstacle?, at now: Timestamp
    ) -> CommandFailure {
        if let failure = inUseFailure { return failure }
        let limit = "within ttl_ms (\(command.timeToLive.milliseconds))"
        if let obstacle {
            return CommandFailure(
                .expired, "\(obstacle.text), so tag \(entry.id) did not become reachable \(limit); nothing was sent",
                hint: obstacle.hint, reason: obstacle.word)
        }
        return CommandFailure(
            .expired, "Tag \(entry.id) did not become reachable \(limit); nothing was sent",
            hint: lastSeenHint(at: now))
    }

    /// The failure if the tag cannot be connected until something is done about it, such as after a lost bond; nil
    /// otherwise. While Bluetooth is off, commands wait for it.
    var unconnectableFailure: CommandFailure? {
        guard link.connection.state == .disconnected, let error = link.connection.error,
            error.code != .bluetoothPowerOff
        else { return nil }
        return CommandFailure(
            .tagOffline, "Tag \(entry.id) cannot be connected: \(error.text)", hint: error.code.hint, isRetryable: false
        )
    }

    /// The failure if another program uses the tag; nil otherwise.
    private var inUseFailure: CommandFailure? {
        guard !isConnected, let failure = link.failure, failure.code == .inUse else { return nil }
        return CommandFailure(
            .inUse, "Another program on this host uses tag \(entry.id); nothing was sent", hint: failure.code.hint)
    }

    func lastSeenHint(at now: Timestamp) -> String {
        lastSeen.map { "last seen \($0.ago(at: now))" } ?? "not seen since the bridge started"
    }
}
