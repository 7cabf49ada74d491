import JSON
import Time

/// Who waits for the result of a command: where it has to go, and what has to be in it.
struct CommandAsker: Hashable, Sendable {
    /// `T/<command>/result` or `G/response/<verb>`.
    let resultTopic: String
    /// MQTT 5: a second place for the result; nil for none, and for one at which the bridge does not answer.
    let responseTopic: ResponseTopic?
    /// MQTT 5: comes back on the second place.
    let correlationData: [UInt8]?
    /// When the command came.
    let receivedAt: Moment
    /// The command's `id`.
    let id: String?
    /// Whether the `id` tells a repetition from another command.
    let isIDOwn: Bool
    /// When a result that is not final is due; nil once it was given.
    var acceptedAt: Instant?

    /// The most bytes of correlation data.
    static let mostCorrelationData = 4_096
    /// A final result that takes longer than this is announced.
    private static let patience = Duration.milliseconds(250)

    init(
        _ address: CommandAddress, _ message: IncomingMessage, _ responseTopic: ResponseTopic?, id: String?,
        isIDOwn: Bool = true, at now: Moment
    ) {
        resultTopic = address.resultTopic
        self.responseTopic = responseTopic
        correlationData = responseTopic == nil ? nil : message.correlationData
        receivedAt = now
        self.id = id
        self.isIDOwn = isIDOwn
        acceptedAt = now.instant + Self.patience
    }

    /// What the answers to a repetition are found by; nil without an `id` of its own.
    var key: AnsweredCommands.Key? {
        guard isIDOwn else { return nil }
        return id.map { AnsweredCommands.Key(resultTopic: resultTopic, id: $0) }
    }
}

extension CommandAsker {
    /// How long a result waits for the broker.
    private static let lifetime = Duration.seconds(60)

    /// The result's publications: on the result topic, and on the response topic.
    func publications(_ payload: [UInt8]) -> [Publication] {
        let kind = Publication.Kind.result(lifetime: Self.lifetime)
        let result = Publication(topic: resultTopic, payload: payload, kind: kind)
        guard let responseTopic else { return [result] }
        var answer = Publication(
            topic: responseTopic.text, payload: payload, kind: kind, correlationData: correlationData)
        answer.isForAsker = true
        return [result, answer]
    }

    /// The bytes of a result.
    func payload(
        _ status: ResultDocument.Status,
        data: CommandData = .none,
        error: CommandFailure? = nil,
        bridge: String,
        at now: Moment
    ) -> [UInt8] {
        JSONText.bytes(
            of: ResultDocument(
                id: id,
                status: status,
                isFinal: status != .accepted,
                data: data,
                error: error,
                tookMilliseconds: max(0, (now.instant - receivedAt.instant).milliseconds),
                time: now.text,
                bridge: bridge))
    }
}
