import Bridge
import EventLoop
import Logging
import MQTT

/// What the broker tells, and what it is told.
extension BridgeService {
    func handle(_ event: MQTTEvent) {
        switch event {
        case .acknowledged(let ticket): acknowledged(ticket)
        case .message(let message): carryOut { bridge, now in bridge.received(IncomingMessage(message), at: now) }
        case .connected(let session): connected(session)
        case .disconnected: outbox.disconnected(at: .now)
        case .rejected(let ticket, let error): rejected(ticket, error)
        case .subscriptionRefused(let filter, _):
            carryOut { bridge, now in bridge.brokerRefused(subscription: filter.description, at: now) }
        }
    }

    func send(_ deliveries: [Outbox.Delivery]) {
        for delivery in deliveries {
            do throws(MQTTError) {
                try client.publish(MQTTMessage(delivery.publication), ticket: delivery.ticket ?? 0)
            } catch {
                refused(delivery, error)
            }
        }
    }

    /// Without a connection this does nothing; the next one begins with everything.
    func subscribe(to subscriptions: [(filter: String, qos: UInt8)]) {
        client.subscribe(
            to: subscriptions.compactMap { subscription in
                (try? MQTTTopicFilter(subscription.filter)).map {
                    ($0, MQTTQoS(rawValue: subscription.qos) ?? .atLeastOnce)
                }
            })
    }

    /// A message that the client does not take will not be taken later either; one that found no connection is still in
    /// the outbox, which is told of the loss next.
    private func refused(_ delivery: Outbox.Delivery, _ error: MQTTError) {
        guard error.code != .notConnected else { return }
        log.warning("cannot publish", [(.topic, delivery.publication.topic), (.error, error.description)])
        guard let ticket = delivery.ticket else { return }
        EventLoop.shared.atEndOfTurn { [weak self] in self?.acknowledged(ticket) }
    }

    /// The log has a line for each topic that the bridge has chosen itself; anybody may name a forbidden one for an answer.
    private func rejected(_ ticket: UInt64, _ error: MQTTError) {
        let destination = outbox.destination(of: ticket)
        acknowledged(ticket)
        guard let (topic, isChosenByAsker) = destination else { return }
        let variables: [Logger.Metadata] = [(.topic, topic), (.error, error.description)]
        guard !isChosenByAsker else { return log.debug("the broker refuses an answer to its asker", variables) }
        log.warning("the broker refuses a message", variables)
        carryOut { bridge, now in bridge.brokerRefused(messageTo: topic, error.code.name, at: now) }
    }

    private func acknowledged(_ ticket: UInt64) {
        send(outbox.acknowledged(ticket, at: .now))
        // What waited may have grown too old in its last moment.
        tellDrops()
    }

    /// Subscribe, then `online` and all facts, then what has waited: the order of the contract.
    private func connected(_ session: MQTTSession) {
        reconnects += 1
        subscribe(to: bridge.subscriptions)
        carryOut { bridge, now in bridge.brokerConnected(at: now) }
        carryOut { bridge, _ in bridge.broker(protocolVersion: session.version == .v5 ? 5 : 4) }
        send(outbox.connected(at: .now))
        tellDrops()
    }
}
