import Bridge
import EventLoop
import Logging
import MQTT
import MQTTTypes
import Text

/// The connection to the broker.
extension BridgeService {
    /// Receives the events of a client.
    func follow(_ client: MQTTClient) {
        client.onEvent = { [unowned self] in brokerReported($0) }
        client.onWritten = { [unowned self] in outbox.written(at: $0) }
    }

    func brokerReported(_ event: MQTTEvent) {
        switch event {
        case .acknowledged(let ticket, let reason): acknowledged(ticket, reason)
        case .message(let message): received(message)
        case .connected(let session): connected(session)
        case .disconnected(let error, _):
            outbox.disconnected(isClosedByBroker: error.mayBeCausedByMessage, at: .now)
            if client.isContested, error.code == .sessionTakenOver { handle(.identifierTaken) }
            handle(.brokerDisconnected)
        case .rejected(let ticket, let error): rejected(ticket, error)
        case .subscriptionGranted(let filter): handle(.subscriptionGranted(filter: filter.description))
        case .subscriptionRefused(let filter, _):
            handle(.subscriptionRefused(filter: filter.description))
        }
    }

    /// Changes the outbox, and passes the resulting deliveries to the client. Each access to the outbox is checked at run
    /// time, and this is on the path of every gesture: there is one.
    func send(_ change: (inout Outbox) -> [Outbox.Delivery]) {
        send { (change(&$0), ()) }
    }

    private func send<Value>(_ change: (inout Outbox) -> ([Outbox.Delivery], Value)) -> Value {
        let (deliveries, value, isIntakeOpen) = Self.apply(change, to: &outbox)
        for delivery in deliveries {
            do throws(MQTTError) {
                try client.publish(delivery.publication.message, ticket: delivery.ticket ?? 0)
            } catch {
                refused(delivery, error)
            }
        }
        client.withholdsAcknowledgements = !isIntakeOpen
        return value
    }

    private static func apply<Value>(
        _ change: (inout Outbox) -> ([Outbox.Delivery], Value), to outbox: inout Outbox
    ) -> (deliveries: [Outbox.Delivery], value: Value, isIntakeOpen: Bool) {
        let (deliveries, value) = change(&outbox)
        return (deliveries, value, outbox.intake == .open)
    }

    private func received(_ message: MQTTMessage) {
        // Only commands have results, which wait for the broker.
        if outbox.intake == .closed, bridge.isCommand(message.topic), !outbox.takesCommand() { return }
        handle(.message(message))
        // The documents of this instance show whether another bridge has its name.
        if bridge.isOwnInfo(message.topic) { client.isIdentifierShared = bridge.isNameContested(at: .now) }
    }

    /// Without a connection this does nothing; the next connection makes all subscriptions.
    func subscribe(to subscriptions: [(filter: String, qos: MQTTQoS)]) {
        client.subscribe(
            to: subscriptions.compactMap { filter, qos in (try? MQTTTopicFilter(filter)).map { ($0, qos) } })
    }

    func unsubscribe(from filters: [String]) {
        for filter in filters.compactMap({ try? MQTTTopicFilter($0) }) { client.unsubscribe(from: filter) }
    }

    /// Handles a message that the client refused, because of its own rules or the broker's limits. The message is not
    /// sent again. If there was no connection, the message is still in the outbox, which handles the end of the
    /// connection next.
    private func refused(_ delivery: Outbox.Delivery, _ error: MQTTError) {
        guard error.code != .notConnected else { return }
        let (ticket, topic) = (delivery.ticket, delivery.publication.topic)
        // A delivery of QoS 0 has no ticket, and is always to a topic of the bridge.
        let isChosenByRequester = ticket.flatMap { outbox.destination(of: $0) }?.isChosenByRequester ?? false
        let bytes = delivery.publication.payload.count
        EventLoop.shared.atEndOfTurn { [weak self] in self?.drop(ticket, topic, isChosenByRequester, error, bytes) }
    }

    /// Handles a message that the broker acknowledged with a failure. It is not sent again.
    private func rejected(_ ticket: UInt64, _ error: MQTTError) {
        guard let (topic, isChosenByRequester) = outbox.destination(of: ticket) else { return }
        drop(ticket, topic, isChosenByRequester, error, outbox.sizes(of: [topic])[topic])
    }

    /// Logs a warning for each topic of the bridge. A response topic chosen by a sender may be forbidden without one.
    private func drop(
        _ ticket: UInt64?, _ topic: String, _ isChosenByRequester: Bool, _ error: MQTTError, _ bytes: Int?
    ) {
        send { $0.refused(ticket, reason: error.reason, at: .now) }
        report(outbox.takeLosses())
        let variables: [Logger.Metadata] = [(.topic, topic.shortened), (.error, error.description)]
        guard !isChosenByRequester else { return log.debug("the broker refuses a response", variables) }
        log.warning("the broker refuses a message", variables)
        let size = error.code == .packetTooLarge ? bytes : nil
        let limit = client.limits.maximumPacketSize
        handle(
            .messageRefused(
                topic: topic, reason: error.code.name, size: size.map { MessageSize(bytes: $0, limit: limit) }))
    }

    private func acknowledged(_ ticket: UInt64, _ reason: UInt8) {
        let (losses, isEmptied) = send { outbox in
            let deliveries = outbox.acknowledged(ticket, reason: reason, at: .now)
            return (deliveries, (outbox.takeLosses(), outbox.takeEmptied()))
        }
        // A queued message may have expired.
        report(losses)
        if isEmptied { memoryIsUnused(after: .milliseconds(50)) }
    }

    /// Subscribes, then publishes `online` and all facts, then the queued messages: the order of the contract.
    private func connected(_ session: MQTTSession) {
        reconnects += 1
        // Before the facts, so that the health document has this connection.
        updateHealth()
        subscribe(to: bridge.subscriptions)
        if !session.isSessionPresent { handle(.brokerHasNoSession) }
        handle(.brokerConnected)
        let isVersion5 = session.version == .v5
        handle(.brokerProtocol(isVersion5 ? 5 : 4, node: session.node?.description))
        let receiveMaximum = client.receiveMaximum
        send {
            $0.connected(
                receiveMaximum: receiveMaximum, hasReasons: isVersion5, isCluster: session.node != nil, at: .now)
        }
        report(outbox.takeLosses())
    }
}

extension String {
    /// The first part of a topic, for the log: at most 256 bytes.
    var shortened: String { shortened(toBytes: 256) }
}
