extension CommandFailure {
    /// The bridge ends before the command was sent.
    static let stoppedBeforeSending = CommandFailure(
        .tagOffline, "The bridge stops; nothing was sent", hint: "Send it again when the bridge is online")
    /// The bridge ends after the command was sent.
    static let stoppedAfterSending = CommandFailure(
        .linkLost, "The bridge stops before the answer; whether it was carried out is not known")
    /// The driver broke its word.
    static let neverEnded = CommandFailure(
        .internalDefect, "The command never ended", hint: "Report this with the bridge's log and the command")
    /// Somebody wants the tag connected before it was disconnected.
    static let askedToConnect = CommandFailure(.notPermitted, "The tag was asked to connect meanwhile")
    /// The tag was asked to disconnect, and has not yet.
    static let stillConnected = CommandFailure(
        .timeout, "The tag has not disconnected in time; it is held as soon as it has")
    /// The tag is forgotten, or taken off the list, while a command for it waits.
    static let forgottenBeforeSending = CommandFailure(
        .unknownTag, "The tag was forgotten or is not listed any more; nothing was sent")
    /// The tag is forgotten, or taken off the list, while it carries out a command.
    static let forgottenAfterSending = CommandFailure(
        .linkLost, "The tag was forgotten or taken off the list before its answer; whether it obeyed is not known")
    /// The command came with the retain flag.
    static let retained = CommandFailure(
        .retainedRejected, "The command was published with the retain flag",
        hint: "Publish an empty retained message to its topic, then the command without retain")
    /// The response topic is one at which the bridge does not answer.
    static let responseTopicRefused = CommandFailure(
        .invalidArgument,
        "The response topic is not allowed; it may be outside the base topic and the discovery prefix, or "
            + "<base topic>/client/<name>/..., not beginning with $, without wildcards and control characters, of at most "
            + "\(ResponseTopic.mostLevels) levels and \(ResponseTopic.mostBytes) bytes")
    /// The correlation data is too long to be kept until the result.
    static let correlationDataTooLong = CommandFailure(
        .invalidArgument,
        "The correlation data is too long; it may have at most \(CommandAsker.mostCorrelationData) bytes")

    /// Bluetooth is not on, and so the request cannot be carried out.
    static func bluetooth(is state: AdapterFacts.State) -> CommandFailure {
        let mayChange = state == .resetting || state == .unknown
        return CommandFailure(
            .notPermitted, "Bluetooth is \(state.text)",
            hint: mayChange
                ? "Ask again in a moment" : "Switch Bluetooth on; `jacquard2mqtt doctor` says what is wrong",
            isRetryable: mayChange)
    }

    /// What the end of an action without an answer means for its asker.
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
    /// The configuration forbids commands.
    var switchedOffFailure: CommandFailure {
        CommandFailure(
            .notPermitted, "Tag \(entry.id) is switched off by the configuration",
            hint: "Its \"connect\" is never; it may be always or on_demand")
    }

    /// The user forbids commands.
    var heldFailure: CommandFailure {
        CommandFailure(
            .notPermitted, "Tag \(entry.id) is held disconnected by the user",
            hint: "Publish connect to the tag's connection/set")
    }
}
