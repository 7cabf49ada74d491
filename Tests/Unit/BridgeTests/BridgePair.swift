import FoundationEssentials
import JacquardProtocol
import MQTTTypes
import Time

@testable import Bridge

/// Two bridges, `attic` and `cellar`, that know one tag, and a broker that delivers messages in order and without delay.
final class BridgePair {
    /// A bridge with its session at the broker.
    final class Host {
        let name: String
        var state: BridgeState
        /// Whether the process lives.
        var isAlive = true
        /// Whether the broker delivers messages to it. If not, they stay in its session.
        var isLinked = false
        /// What the bridge publishes does not arrive.
        var isCut = true
        /// The messages of the session that are not delivered yet.
        var session: [MQTTMessage] = []
        /// The last `state` and `info`.
        var facts: [String: Publication] = [:]
        /// The tokens of the commands that were sent to the tag, in order.
        var tokens: [UInt64] = []

        init(_ name: String, boot: String, tags: [TagEntry], at now: Timestamp) {
            self.name = name
            let configuration = BridgeConfiguration(instance: name, version: "0.1.0", tags: tags)
            state = BridgeState(configuration: configuration, boot: boot, startedAt: now)
        }
    }

    var now = Scene.beginning
    var attic: Host
    var cellar: Host
    private var retained: [String: MQTTMessage] = [:]
    private var isDelivering = false
    /// The final results as `bridge id code`, with `ok` as the code of a success, in order.
    private(set) var finals: [String] = []

    init(tags: [TagEntry] = [.tag003R]) {
        attic = Host("attic", boot: "a1", tags: tags, at: now)
        cellar = Host("cellar", boot: "c1", tags: tags, at: now)
        for host in [attic, cellar] {
            handle(.started, host)
            handle(.bluetooth(.poweredOn), host)
            link(host)
        }
        wait(.seconds(2))
    }

    private var hosts: [Host] { [attic, cellar] }

    // MARK: What happens to the bridges

    /// Passes an event to a bridge.
    func handle(_ event: BridgeEvent, _ host: Host) {
        guard host.isAlive else { return }
        for action in host.state.handle(event, at: now) {
            switch action {
            case .publish(let publication): publish(publication, from: host)
            case .perform(_, _, let token, _): host.tokens.append(token)
            default: break
            }
        }
        deliver()
    }

    func report(_ event: TagEvent, _ host: Host) {
        handle(.tag(host.state.handle(of: .tag003R) ?? .none, event), host)
    }

    func connectTag(_ host: Host) { report(.connection(TagConnection(state: .connected, attempt: 1)), host) }

    func loseTag(_ host: Host) { report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)), host) }

    /// The link of a tag ends that a user has disconnected.
    func loseTagIfHeld(_ host: Host) {
        if let position = host.state.tags.position(of: TagID.tag003R), host.state.tags[position].link.intent.isHeld {
            report(.connection(TagConnection(state: .disconnected, attempt: 1)), host)
        }
    }

    /// The tag answers the command that was sent last.
    func answer(_ host: Host) { report(.commandEnded(token: host.tokens.last ?? 0, .success(.done)), host) }

    /// The process is killed, or loses its network: the broker publishes the will later.
    func kill(_ host: Host) { (host.isAlive, host.isLinked) = (false, false) }

    /// A new process begins, without a session.
    func restart(_ host: Host) -> Host {
        let new = Host(host.name, boot: host.name + "2", tags: [.tag003R], at: now)
        if host === attic { attic = new } else { cellar = new }
        handle(.started, new)
        handle(.bluetooth(.poweredOn), new)
        link(new)
        return new
    }

    /// Messages of and to a bridge no longer arrive.
    func cut(_ host: Host) { (host.isLinked, host.isCut) = (false, true) }

    /// The broker publishes the will of a bridge.
    func will(of host: Host) {
        broker(MQTTMessage(topic: host.state.will.topic, payload: host.state.will.payload, isRetained: true))
        deliver()
    }

    /// A bridge that was cut off is connected to the broker again.
    func reconnect(_ host: Host, hasSession: Bool) {
        handle(.brokerDisconnected, host)
        if !hasSession {
            host.session = []
            handle(.brokerHasNoSession, host)
        }
        link(host)
    }

    private func link(_ host: Host) {
        handle(.brokerConnected, host)
        handle(.brokerProtocol(5, node: nil), host)
        host.session += retained.values.sorted { $0.topic < $1.topic }
        (host.isLinked, host.isCut) = (true, false)
        for topic in host.facts.keys.sorted().reversed() { host.facts[topic].map { broker($0.message) } }
        deliver()
    }

    /// The messages that were on their way to a bridge arrive.
    func reconnectQuietly(_ host: Host) {
        host.isLinked = true
        deliver()
    }

    /// A bridge stops in order. Until ``ended(_:)`` it receives messages.
    func stop(_ host: Host) { handle(.stopping, host) }

    func ended(_ host: Host) { kill(host) }

    // MARK: The broker

    /// Sends a command.
    func send(_ topic: String, _ payload: String, to tag: String = "003R") {
        var message = command(topic, payload)
        message.topic = "jacquard/tag/\(tag)/\(topic)"
        broker(message)
        deliver()
    }

    /// Sends a command with the retain flag.
    func sendRetained(_ topic: String, _ payload: String) {
        var message = command(topic, payload)
        message.isRetained = true
        for host in hosts { host.session.append(message) }
        deliver()
    }

    func command(_ topic: String, _ payload: String) -> MQTTMessage {
        MQTTMessage(topic: "jacquard/tag/003R/" + topic, payload: Array(payload.utf8), qos: .atLeastOnce)
    }

    private func publish(_ publication: Publication, from host: Host) {
        if case .result = publication.kind { return note(publication, of: host) }
        guard publication.topic.hasSuffix("\(host.name)/info") || publication.topic.hasSuffix("\(host.name)/state")
        else { return }
        let isKnown = host.facts[publication.topic]?.payload == publication.payload && publication.kind == .fact
        host.facts[publication.topic] = publication
        if !isKnown, !host.isCut { broker(publication.message) }
    }

    private func note(_ publication: Publication, of host: Host) {
        guard let result = try? JSONDecoder().decode(CommandResult.self, from: Data(publication.payload)), result.final
        else { return }
        finals.append("\(host.name) \(result.id ?? "-") \(result.error?.code ?? "ok")")
    }

    private func broker(_ message: MQTTMessage) {
        if message.isRetained { retained[message.topic] = message }
        for host in hosts { host.session.append(message) }
    }

    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        while let host = hosts.first(where: { $0.isAlive && $0.isLinked && !$0.session.isEmpty }) {
            handle(.message(host.session.removeFirst()), host)
        }
    }

    // MARK: Time

    /// Advances the time, and reports each deadline when it is reached.
    func wait(_ duration: Duration) {
        let end = now + duration
        while let host = next(until: end.instant), let due = host.state.deadline {
            now = now + max(.zero, due - now.instant)
            handle(.deadlineReached, host)
        }
        now = end
    }

    private func next(until end: Instant) -> Host? {
        let due = hosts.compactMap { host in host.isAlive ? host.state.deadline.map { (host, $0) } : nil }
        return due.filter { $0.1 <= end }.min { $0.1 < $1.1 }?.0
    }
}
