import JSON
import JacquardProtocol
import MQTTTypes
import Time

/// A command without a final result.
struct PendingCommand: Sendable {
    /// The command itself.
    enum Work: Sendable {
        case tag(TagID, any TagRequest)
        case bridge(any BridgeRequest)
    }

    /// Identifies the command to the driver.
    let token: UInt64
    /// The target tag; nil for a request to the bridge.
    let tag: TagID?
    /// The state of the tag that the command waits for; nil for a request to the bridge.
    let goal: TagGoal?
    let work: Work
    /// Whether this bridge publishes the results in any case: the tag was connected here when the command arrived, or when it was
    /// sent, so that other bridges ignore it. Otherwise another bridge that knows the tag may publish them.
    var isOnlyHere: Bool
    /// The other bridge that was connected to the tag when the command arrived. It publishes the results, also after it has disconnected.
    let claimant: ExactText?
    /// The senders: the first one, and those that repeated the command while it was pending.
    var requesters: [Requester]
    /// How long the command may be queued.
    let timeToLive: Duration
    /// When the command expires while it waits for its tag or for Bluetooth.
    let reachableUntil: Instant
    /// When the response times out; nil while the command is queued.
    var responseDeadline: Instant?
    /// When the command is retried, after a connected tag did not accept it.
    var retryAt: Instant?

    init(
        token: UInt64, work: Work, isOnlyHere: Bool, claimant: ExactText? = nil, requester: Requester,
        timeToLive: Duration, at now: Instant
    ) {
        self.token = token
        (tag, goal) = if case .tag(let tag, let request) = work { (tag, request.goal) } else { (nil, nil) }
        self.work = work
        self.isOnlyHere = isOnlyHere
        self.claimant = claimant
        requesters = [requester]
        self.timeToLive = timeToLive
        reachableUntil = now + timeToLive
    }

    /// Whether the command was sent.
    var isSent: Bool { responseDeadline != nil }

    /// Whether the end of the link is the effect of the command.
    var endsLink: Bool { if case .tag(_, let request) = work { request.endsLink } else { false } }

    /// When the command expires, queued or sent.
    var expiresAt: Instant { responseDeadline ?? reachableUntil }

    /// The bridges that have not received the command.
    var unaware: Set<ExactText> { requesters.first?.unaware ?? [] }

    /// Whether a reflex has given it.
    var isReflex: Bool { requesters.first?.isReflex ?? false }
}

/// The sender of a command: where its result is published, and what the result must contain.
struct Requester: Sendable {
    /// The constants.
    private struct Origin {
        let resultTopic: String
        /// MQTT 5: an additional topic for the result; nil if the sender gave none or one that is not allowed.
        var responseTopic: ResponseTopic?
        /// MQTT 5: returned unchanged with the result on the response topic.
        var correlationData: [UInt8]?
        let receivedAt: Timestamp
        let id: String?
        var isReading = false
        /// Whether the `id` identifies repetitions of this command.
        var isIDOwn = false
        var member: GroupMember?
        var trace: UInt64 = 0
        var isReflex = false
        /// The keys that the command does not have, each with a hint. The final result names them.
        var ignoredKeys: [String: String] = [:]
    }

    /// Holds it in one object, because a requester is copied often on the way of a command.
    private final class Box: Sendable {
        let origin: Origin

        init(_ origin: Origin) {
            self.origin = origin
        }
    }

    private let box: Box
    /// When the `accepted` result is due; nil once it was published.
    var acceptedAt: Instant?
    /// Whether it has no further results: the bridge has left the broker of the command.
    private var isDone = false
    /// The bridges that have not received this message: they have started since, had no session, or did not know the tag.
    private(set) var unaware: Set<ExactText> = []

    /// Maximum size of correlation data in bytes.
    static let maxCorrelationData = 4_096
    /// Delay after which a pending command gets an `accepted` result.
    private static let patience = Duration.milliseconds(250)

    init(
        _ address: CommandAddress, _ message: MQTTMessage, _ responseTopic: ResponseTopic?, id: String?,
        isReading: Bool, isIDOwn: Bool = true, member: GroupMember? = nil, trace: UInt64 = 0,
        ignoredKeys: [String: String] = [:], at now: Timestamp
    ) {
        box = Box(
            Origin(
                resultTopic: address.resultTopic, responseTopic: responseTopic,
                correlationData: responseTopic == nil ? nil : message.correlationData, receivedAt: now, id: id,
                isReading: isReading, isIDOwn: isIDOwn, member: member, trace: trace, ignoredKeys: ignoredKeys))
        acceptedAt = now.instant + Self.patience
    }

    /// A reflex, whose trigger is the `id` of its result.
    init(reflex trigger: String, resultTopic: String, at now: Timestamp) {
        box = Box(Origin(resultTopic: resultTopic, receivedAt: now, id: trigger, isReflex: true))
        acceptedAt = nil
    }

    /// `T/<command>/result` or `G/response/<verb>`.
    var resultTopic: String { box.origin.resultTopic }
    /// When the command was received.
    var receivedAt: Timestamp { box.origin.receivedAt }
    /// The command's `id`.
    var id: String? { box.origin.id }
    /// Whether it reads what another command with the same result topic sets.
    var isReading: Bool { box.origin.isReading }
    /// The tag as part of the group that the command was sent to; nil for a command to a tag or the bridge.
    var member: GroupMember? { box.origin.member }
    /// Whether it is a reflex of the bridge: without a broker it has no result.
    var isReflex: Bool { box.origin.isReflex }
    /// The number of the command in ``CommandTraces``; 0 for a request to the bridge and a reflex.
    var trace: UInt64 { box.origin.trace }

    /// Notes that a bridge has not received this message. There are as many names as there may be bridges.
    mutating func add(unaware bridge: ExactText) {
        if unaware.count < PeerBridges.maxCount { unaware.insert(bridge) }
    }

    /// Ends its results.
    mutating func endResults() { (isDone, acceptedAt) = (true, nil) }

    /// The key of the stored result; nil without a command `id`.
    var key: StoredResults.Key? {
        guard box.origin.isIDOwn else { return nil }
        return id.map { StoredResults.Key(resultTopic: resultTopic, id: $0, isReading: isReading) }
    }
}

extension Requester {
    /// How long a result is queued while the broker is away.
    private static let lifetime = Duration.seconds(60)
    /// The same for the result of a reflex.
    private static let reflexLifetime = Duration.seconds(5)

    /// Publishes a result: on the result topic and on the response topic.
    func publish(_ payload: [UInt8], _ effects: inout Effects) {
        guard !isDone else { return }
        // Results of reflexes must not delay commands while the broker is slow.
        let kind: Publication.Kind =
            isReflex ? .event(lifetime: Self.reflexLifetime) : .result(lifetime: Self.lifetime)
        effects.publish(Publication(topic: resultTopic, payload: payload, kind: kind))
        guard let responseTopic = box.origin.responseTopic else { return }
        var answer = Publication(topic: responseTopic.text, payload: payload, kind: kind)
        answer.message.correlationData = box.origin.correlationData
        answer.isForRequester = true
        effects.publish(answer)
    }

    /// Encodes a result.
    func payload(
        _ status: ResultDocument.Status,
        data: CommandData = .none,
        error: CommandFailure? = nil,
        bridge: String,
        at now: Timestamp,
        _ timeText: inout TimeText
    ) -> [UInt8] {
        let isNaming = !box.origin.ignoredKeys.isEmpty && status != .accepted
        return ResultDocument(
            id: id, status: status, data: isNaming ? data.naming(ignored: box.origin.ignoredKeys) : data, error: error,
            tag: member?.tag.text,
            tookMilliseconds: max(0, (now.instant - receivedAt.instant).milliseconds), time: now, bridge: bridge
        ).bytes(&timeText)
    }
}

extension MQTTMessage {
    /// Returns the additional topic for the result; nil for none.
    ///
    /// - Throws: `invalid_argument` for a topic that is not allowed, and for correlation data that is too long.
    func responseTopic(
        protecting topics: @autoclosure () -> ProtectedTopics
    ) throws(CommandFailure) -> ResponseTopic? {
        guard correlationData?.count ?? 0 <= Requester.maxCorrelationData else { throw .correlationDataTooLong }
        guard let responseTopic else { return nil }
        guard let topic = ResponseTopic(responseTopic, protecting: topics()) else { throw .responseTopicRefused }
        return topic
    }
}
