extension CommandFailure {
    /// The bridge stops before the command was sent.
    static let stoppedBeforeSending = CommandFailure(
        .tagOffline, "The bridge stops; nothing was sent", hint: "Send it again when the bridge is online")
    /// The bridge stops after the command was sent.
    static let stoppedAfterSending = CommandFailure(
        .linkLost, "The bridge stops before the answer; whether it was carried out is not known")
    /// The driver did not complete a command.
    static let neverEnded = CommandFailure(
        .internalDefect, "The command never ended", hint: "Report this with the bridge's log and the command")
    /// A connect command cancels a pending disconnect command.
    static let askedToConnect = CommandFailure(.notPermitted, "The tag was asked to connect meanwhile")
    /// A disconnect command timed out.
    static let stillConnected = CommandFailure(
        .timeout, "The tag has not disconnected in time; it is held as soon as it has")
    /// The tag was forgotten or removed from the configuration while a command was queued.
    static let forgottenBeforeSending = CommandFailure(
        .unknownTag, "The tag was forgotten or is not listed any more; nothing was sent")
    /// The tag was forgotten or removed from the configuration while it executed a command.
    static let forgottenAfterSending = CommandFailure(
        .linkLost, "The tag was forgotten or taken off the list before its answer; whether it obeyed is not known")
    /// The command has the retain flag.
    static let retained = CommandFailure(
        .retainedRejected, "The command was published with the retain flag",
        hint: "Publish an empty retained message to its topic, then the command without retain")
    /// The response topic is not allowed.
    static let responseTopicRefused = CommandFailure(
        .invalidArgument,
        "The response topic is not allowed; it may be outside the base topic and the discovery prefix, or "
            + "<base topic>/client/<name>/..., not beginning with $, without wildcards and control characters, of at most "
            + "\(ResponseTopic.mostLevels) levels and \(ResponseTopic.mostBytes) bytes")
    /// The correlation data is too long.
    static let correlationDataTooLong = CommandFailure(
        .invalidArgument,
        "The correlation data is too long; it may have at most \(Requester.mostCorrelationData) bytes")

    /// Bluetooth is not powered on, so the request cannot be executed.
    static func bluetooth(is state: AdapterFacts.State) -> CommandFailure {
        let mayChange = state == .resetting || state == .unknown
        return CommandFailure(
            .notPermitted, "Bluetooth is \(state.text)",
            hint: mayChange
                ? "Ask again in a moment" : "Switch Bluetooth on; `jacquard2mqtt doctor` says what is wrong",
            isRetryable: mayChange)
    }

    /// Converts the error of a failed action.
    init(_ error: RequestError) {
        switch error {
        case .bluetoothUnavailable(let state): self = .bluetooth(is: state)
        case .notConnected: self.init(.tagOffline, "The tag is not connected; nothing was sent")
        case .notFound:
            self.init(
                .expired, "The tag was not heard in time",
                hint: "Hold the tag's button for three seconds near the adapter, then ask again")
        case .refused(let name, let text): self.init(.tagError, "Refused by the tag or by Bluetooth: \(name): \(text)")
        case .timeout: self.init(.timeout, "There was no answer in time; whether it was carried out is not known")
        case .failed(let name, let text):
            self.init(.internalDefect, "The host failed: \(name): \(text)", hint: "Report this with the bridge's log")
        }
    }
}

extension TagMirror {
    /// The configuration forbids commands to the tag.
    var switchedOffFailure: CommandFailure {
        CommandFailure(
            .notPermitted, "Tag \(entry.id) is switched off by the configuration",
            hint: "Its \"connect\" is never; it may be always or on_demand")
    }

    /// The user has disconnected the tag.
    var heldFailure: CommandFailure {
        CommandFailure(
            .notPermitted, "Tag \(entry.id) is held disconnected by the user",
            hint: "Publish connect to the tag's connection/set")
    }
}
