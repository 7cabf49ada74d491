import Bridge
import BrokerAccess
import JSON
import MQTTTypes
import Time

/// The commands of one command line to several tags, which are pending at the same time, and their results.
struct TagExchanges: Sendable {
    /// The result of one command.
    typealias Outcome = Result<JSONValue, ClientFailure>

    /// The command to one tag.
    struct Exchange: Sendable {
        /// The tag's ID.
        let tag: String
        /// The command.
        let request: ClientRequest
        /// The bridge that has the tag; nil if no bridge lists it.
        let bridge: String?
        /// Its result; nil while it is pending.
        fileprivate(set) var outcome: Outcome?
        fileprivate var limit: Duration
        fileprivate var deadline: Instant
        fileprivate var ticket: UInt64?
    }

    /// The commands in the order of the command line.
    private(set) var exchanges: [Exchange] = []
    private let topics: BridgeTopics
    private let answers: String
    private var indices: [String: Int] = [:]
    private(set) var pendingCount = 0

    /// - Parameters:
    ///   - topics: the topics of the configured bridge.
    ///   - answers: the response topic of this client (MQTT 5).
    init(_ topics: BridgeTopics, answers: String) {
        self.topics = topics
        self.answers = answers
    }

    /// When the next command has waited for too long; nil if none is pending.
    var deadline: Instant? { exchanges.lazy.filter { $0.outcome == nil }.map(\.deadline).min() }

    /// Adds a command that was published with this ticket.
    mutating func sent(_ request: ClientRequest, to tag: String, of bridge: String?, ticket: UInt64, at now: Instant) {
        indices[request.id] = exchanges.count
        exchanges.append(
            Exchange(
                tag: tag, request: request, bridge: bridge, limit: request.firstAnswer,
                deadline: now + request.firstAnswer, ticket: ticket))
        pendingCount += 1
    }

    /// Adds a command that was not published.
    mutating func failed(_ request: ClientRequest, to tag: String, of bridge: String?, _ failure: ClientFailure) {
        exchanges.append(
            Exchange(
                tag: tag, request: request, bridge: bridge, outcome: .failure(failure), limit: .zero,
                deadline: Instant(sinceBoot: .zero)))
    }

    /// Handles a message: a result, or the state of a bridge.
    mutating func received(_ message: MQTTMessage, at now: Instant) {
        if let instance = topics.instance(ofStateTopic: message.topic) {
            if String(decoding: message.payload, as: UTF8.self) == "offline" { bridgeOffline(instance) }
            return
        }
        let id =
            JSONValue(payload: message.payload)["id"]?.string
            ?? message.correlationData.map { String(decoding: $0, as: UTF8.self) }
        guard let index = id.flatMap({ indices[$0] }) else { return }
        let exchange = BridgeExchange(request: exchanges[index].request, topics: topics, answers: answers)
        switch exchange.received(message) {
        case .none, .stage: break
        case .accepted: extend(index, at: now)
        case .done(let result): end(index, .success(result))
        case .failed(let failure): end(index, .failure(failure))
        }
    }

    /// Handles the broker's refusal of a publication.
    mutating func refused(_ ticket: UInt64, _ reason: String) {
        guard let index = exchanges.firstIndex(where: { $0.ticket == ticket }) else { return }
        end(index, .failure(.forbidden(exchanges[index].request.topic, reason, AccessTable(topics))))
    }

    /// Ends the commands that have waited for too long.
    mutating func deadlineReached(at now: Instant) {
        for index in exchanges.indices where exchanges[index].outcome == nil && exchanges[index].deadline <= now {
            let bridge = exchanges[index].bridge ?? topics.instance
            end(index, .failure(.silent(bridge, topics, within: exchanges[index].limit)))
        }
    }

    private mutating func bridgeOffline(_ instance: String) {
        for index in exchanges.indices where (exchanges[index].bridge ?? topics.instance) == instance {
            end(index, .failure(.bridgeOffline(instance)))
        }
    }

    private mutating func extend(_ index: Int, at now: Instant) {
        guard exchanges[index].outcome == nil else { return }
        exchanges[index].limit = exchanges[index].request.patience
        exchanges[index].deadline = now + exchanges[index].limit
    }

    /// The first outcome counts: with MQTT 5 each result arrives on two topics.
    private mutating func end(_ index: Int, _ outcome: Outcome) {
        guard exchanges[index].outcome == nil else { return }
        exchanges[index].outcome = outcome
        pendingCount -= 1
    }
}
