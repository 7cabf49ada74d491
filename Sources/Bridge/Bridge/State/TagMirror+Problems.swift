import JacquardProtocol
import Time

// MARK: Problems

extension TagMirror {
    /// Problems that need attention. A disconnected tag is not one, unless it cannot reconnect without help.
    var problems: [Problem] {
        var problems: [Problem] = []
        if let version = info.component?.version, version.isKnownBad {
            let text = "Tag \(entry.id) has firmware \(version), which is known to be bad"
            problems.append(Problem(.badFirmware, about: entry.id.text, text))
        }
        if let missingBond { problems.append(missingBond) }
        if let failure = link.failure, let code = Problem.Code(failure.code), !link.intent.staysDisconnected {
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

    /// Returns the failure of a command that has ended with an error.
    func failure(of error: TagCommandError, at now: Timestamp) -> CommandFailure {
        reason(of: error, at: now).leavingEffectUnknown(error.leavesEffectUnknown)
    }

    private func reason(of error: TagCommandError, at now: Timestamp) -> CommandFailure {
        switch error {
        case .invalidParameter:
            CommandFailure(
                .invalidArgument,
                "The tag rejects the value of this command: it is out of the tag's range, too long, or already set")
        case .gearNotAttached:
            CommandFailure(
                .unsupported, "No gear is attached to tag \(entry.id)", hint: "Attach the gear, then try again")
        case .componentDoesNotSupportPlayLEDPattern:
            CommandFailure(.unsupported, "The component has no LED", hint: gearHint)
        case .componentDoesNotSupportPlayHaptic:
            CommandFailure(.unsupported, "The component has no motor", hint: gearHint)
        case .componentDoesNotSupportTouchMode:
            CommandFailure(.unsupported, "The component has no touch sensor", hint: gearHint)
        case .notConnected:
            offlineFailure(obstacle: nil, at: now)
        case .timeout:
            CommandFailure(.timeout, "Tag \(entry.id) did not respond before the timeout; the effect is unknown")
        case .linkLost:
            CommandFailure(.linkLost, "The link was lost before the response; the effect is unknown")
        case .writeFailed(let name, let text):
            CommandFailure(.linkLost, "The command could not be sent: \(name): \(text)")
        case .busy(let name, let text):
            CommandFailure(
                .busy, "The Bluetooth service was too busy to send the command; nothing was sent: \(name): \(text)")
        case .status(let status):
            CommandFailure(.tagError, "The tag refused: \(status)", isRetryable: status == .busy)
        case .moduleMissing(let name):
            CommandFailure(
                .unsupported, "Tag \(entry.id) has no module \(name.quoted)", hint: "modules/get lists its modules")
        case .moduleNotLoaded(let status):
            CommandFailure(.tagError, "The tag did not load the module: \(status)")
        case .motionState(let status):
            CommandFailure(
                status == .logging || status == .transferring || status == .erasing ? .busy : .tagError,
                "The state of motion data is \(status)", hint: status.hint)
        case .malformedResponse:
            CommandFailure(.tagError, "The tag's response lacks required data")
        }
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
        after timeToLive: Duration, obstacle: CommandObstacle?, at now: Timestamp
    ) -> CommandFailure {
        if let failure = inUseFailure { return failure }
        let limit = "within ttl_ms (\(timeToLive.milliseconds))"
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

extension MotionStatus {
    /// The remedy; nil if none is known.
    fileprivate var hint: String? {
        switch self {
        case .logging: "Send stop to imu/set"
        case .lowBattery: "Charge the tag: a recording needs 50 %"
        case .lowStorage: "Erase sessions: at least 20 % of the memory must be free"
        default: nil
        }
    }
}
