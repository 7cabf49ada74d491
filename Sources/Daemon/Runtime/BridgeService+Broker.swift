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
        case .rejected(let ticket, let error):
            log.warning("the broker refuses a message", [(.error, error.description)])
            acknowledged(ticket)
            carryOut { bridge, now in bridge.brokerRefused("messages (\(error.code))", at: now) }
        case .subscriptionRefused(let filter, _):
            carryOut { bridge, now in bridge.brokerRefused("the subscription \(filter)", at: now) }
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
