import JSON
import JacquardProtocol
import Time

/// The error in a command's result.
struct CommandFailure: Error, Hashable, Sendable {
    /// The error codes of the contract.
    enum Code: String, Hashable, Sendable, CaseIterable {
        case invalidJSON = "invalid_json"
        case invalidArgument = "invalid_argument"
        case unknownCommand = "unknown_command"
        case unknownTag = "unknown_tag"
        case unsupported
        case tagOffline = "tag_offline"
        case expired
        case timeout
        case linkLost = "link_lost"
        case tagError = "tag_error"
        case busy
        case retainedRejected = "retained_rejected"
        case payloadTooLarge = "payload_too_large"
        case notPermitted = "not_permitted"
        case inUse = "in_use"
        case internalDefect = "internal"
    }

    let code: Code
    let text: String
    let hint: String?
    /// Whether the same command may succeed later without a change of configuration or hardware.
    let isRetryable: Bool
    /// A word for the cause; nil if the code says it. Without it the key is omitted.
    let reason: String?
    /// Whether the tag may have executed the command.
    private(set) var leavesEffectUnknown = false

    init(_ code: Code, _ text: String, hint: String? = nil, isRetryable: Bool? = nil, reason: String? = nil) {
        self.reason = reason
        self.code = code
        self.text = text
        self.hint = hint
        self.isRetryable = isRetryable ?? code.isUsuallyRetryable
    }

    /// A key has an invalid value.
    static func invalid(_ key: String, is value: JSONValue, mayBe allowed: String) -> CommandFailure {
        CommandFailure(.invalidArgument, "\(key.quoted) is \(value.quoted); it may be \(allowed)")
    }
}

extension CommandFailure.Code {
    fileprivate var isUsuallyRetryable: Bool {
        switch self {
        case .tagOffline, .expired, .timeout, .linkLost, .busy, .inUse: true
        default: false
        }
    }
}

extension CommandFailure: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("code", code.rawValue)
        object.add("hint", hint)
        object.addIfPresent("reason", reason)
        object.add("retryable", isRetryable)
        object.add("text", text)
    }
}

extension CommandFailure {
    /// The same failure, which leaves unknown whether the tag has executed the command, or not.
    func leavingEffectUnknown(_ isUnknown: Bool) -> CommandFailure {
        var failure = self
        failure.leavesEffectUnknown = isUnknown
        return failure
    }
}

extension CommandFailure {
    /// The bridge stops before the command was sent.
    static let stoppedBeforeSending = CommandFailure(
        .tagOffline, "The bridge is stopping; nothing was sent", hint: "Send it again when the bridge is online")
    /// The bridge stops after the command was sent.
    static let stoppedAfterSending = CommandFailure(
        .linkLost, "The bridge stopped before the response; the effect is unknown")
    /// The bridge leaves the broker before the command was sent.
    static let brokerLeftBeforeSending = CommandFailure(
        .tagOffline, "The bridge goes to another broker; nothing was sent", hint: "Send it again at that broker")
    /// The bridge leaves the broker after the command was sent.
    static let brokerLeftAfterSending = CommandFailure(
        .linkLost, "The bridge went to another broker before the response; the effect is unknown")
    /// The driver did not complete a command.
    static let neverEnded = CommandFailure(
        .internalDefect, "The command was never completed", hint: "Report this with the bridge's log and the command")
    /// A connect command cancels a pending disconnect command.
    static let cancelledByConnect = CommandFailure(.notPermitted, "Cancelled by a later connect command")
    /// A `find/set` or `request/pair` that stops cancels those that start.
    static let cancelledByStop = CommandFailure(.notPermitted, "Cancelled by a later stop command")
    /// A disconnect command timed out.
    static let stillConnected = CommandFailure(
        .timeout, "The tag did not disconnect before the timeout; the command stays in force")
    /// The tag was forgotten or removed from the configuration while a command was queued.
    static let forgottenBeforeSending = CommandFailure(
        .unknownTag, "The tag was forgotten or removed from the configuration; nothing was sent")
    /// The tag was forgotten or removed from the configuration while it executed a command.
    static let forgottenAfterSending = CommandFailure(
        .linkLost, "The tag was forgotten or removed from the configuration before its response; the effect is unknown")
    /// The command has the retain flag.
    static let retained = CommandFailure(
        .retainedRejected, "The command was published with the retain flag",
        hint: "Publish an empty retained message to its topic, then the command without retain")
    /// The response topic is not allowed.
    static let responseTopicRefused = CommandFailure(
        .invalidArgument,
        "The response topic is not allowed; it may be outside the base topic and the discovery prefix, or "
            + "<base topic>/client/<name>/..., not beginning with $, without wildcards and control characters, of at most "
            + "\(ResponseTopic.maxLevels) levels and \(ResponseTopic.maxBytes) bytes")
    /// The correlation data is too long.
    static let correlationDataTooLong = CommandFailure(
        .invalidArgument,
        "The correlation data is too long; it may have at most \(Requester.maxCorrelationData) bytes")

    /// Bluetooth is not powered on, so the request cannot be executed.
    static func bluetooth(is state: AdapterFacts.State, because cause: Cause? = nil) -> CommandFailure {
        let obstacle = CommandObstacle.bluetooth(state, cause)
        return CommandFailure(
            .notPermitted, obstacle.text,
            hint: state.isTransient && cause == nil ? "Try again in a moment" : obstacle.hint,
            isRetryable: state.isTransient)
    }

    /// Converts the error of a failed action.
    init(_ error: RequestError) {
        switch error {
        case .bluetoothUnavailable(let state): self = .bluetooth(is: state)
        case .radioUnavailable(let text): self.init(.notPermitted, text, hint: "Switch this radio on, then try again")
        case .notFound:
            self.init(
                .expired, "The tag was not found before the timeout",
                hint: "Hold the tag's button for three seconds near the adapter: it then advertises for 60 seconds")
        case .refused(let name, let text): self.init(.tagError, "Refused by the tag or by Bluetooth: \(name): \(text)")
        case .timeout(let text): self.init(.timeout, "Not completed in time: \(text)")
        }
    }
}

extension TagEntry {
    /// The configuration forbids commands to the tag.
    var switchedOffFailure: CommandFailure {
        CommandFailure(
            .notPermitted, "Tag \(id) is disabled in the configuration",
            hint: "Set the tag's connect to always or on_demand")
    }
}

extension Timestamp {
    /// The elapsed time as text.
    func ago(at now: Timestamp) -> String {
        let seconds = max(0, (now.instant - instant).components.seconds)
        return switch seconds {
        case ..<120: "\(seconds) s ago"
        case ..<7_200: "\(seconds / 60) min ago"
        default: "\(seconds / 3_600) h ago"
        }
    }
}
