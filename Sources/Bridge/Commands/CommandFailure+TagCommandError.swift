import JacquardProtocol
import Time

extension CommandFailure {
    /// Converts the error of a failed tag command.
    init(_ error: TagCommandError, tag: TagMirror, at now: Moment) {
        switch error {
        case .invalidParameter:
            self.init(
                .invalidArgument,
                "The tag does not take this value: it is out of range, too long, or what it has already")
        case .gearNotAttached:
            self.init(
                .unsupported, "No gear is attached to tag \(tag.entry.id)", hint: "Attach the gear, then ask again")
        case .componentDoesNotSupportPlayLEDPattern:
            self.init(.unsupported, "The component has no LED", hint: tag.gearHint)
        case .componentDoesNotSupportPlayHaptic:
            self.init(.unsupported, "The component has no motor", hint: tag.gearHint)
        case .componentDoesNotSupportTouchMode:
            self.init(.unsupported, "The component feels no touch", hint: tag.gearHint)
        case .notConnected:
            self = tag.offlineFailure(at: now)
        case .timeout:
            self.init(.timeout, "Tag \(tag.entry.id) did not answer in time; whether it obeyed is not known")
        case .linkLost:
            self.init(.linkLost, "The link broke before the answer; whether the tag obeyed is not known")
        case .writeFailed(let name, let text):
            self.init(.linkLost, "The link did not carry the command: \(name): \(text)")
        case .busy(let name, let text):
            self.init(
                .busy, "The Bluetooth service was too busy to send the command; nothing was sent: \(name): \(text)")
        case .status(let status):
            self.init(.tagError, "The tag refused: \(status)", isRetryable: status == .busy)
        case .malformedResponse:
            self.init(.tagError, "The tag's answer lacks what it must hold")
        }
    }
}

extension TagMirror {
    /// Points to the capabilities of the attached gear.
    fileprivate var gearHint: String { "\(topics.gear) lists what the attached gear can do" }

    /// The tag is not connected.
    func offlineFailure(at now: Moment) -> CommandFailure {
        if let inUseFailure { return inUseFailure }
        let hint =
            entry.connect == .onDemand
            ? "it is connected on demand, while a command may wait (ttl_ms); " + lastSeenHint(at: now)
            : lastSeenHint(at: now)
        return CommandFailure(.tagOffline, "Tag \(entry.id) is not connected", hint: hint)
    }

    /// The command expired while the tag was not connected.
    func expiredFailure(at now: Moment) -> CommandFailure {
        inUseFailure
            ?? CommandFailure(
                .expired, "Tag \(entry.id) did not become reachable in time; nothing was sent",
                hint: lastSeenHint(at: now))
    }

    /// The failure if another program uses the tag; nil otherwise.
    private var inUseFailure: CommandFailure? {
        guard !isConnected, let failure, failure.code == .inUse else { return nil }
        return CommandFailure(
            .inUse, "Another program on this host uses tag \(entry.id); nothing was sent", hint: failure.code.hint)
    }

    private func lastSeenHint(at now: Moment) -> String {
        lastSeen.map { "last seen \($0.ago(at: now))" } ?? "not seen since the bridge started"
    }
}

extension Moment {
    /// The elapsed time as text.
    fileprivate func ago(at now: Moment) -> String {
        let seconds = max(0, (now.instant - instant).components.seconds)
        return switch seconds {
        case ..<120: "\(seconds) s ago"
        case ..<7_200: "\(seconds / 60) min ago"
        default: "\(seconds / 3_600) h ago"
        }
    }
}
