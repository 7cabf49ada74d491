import Bridge
import EventLoop
import Logging
import MQTT

/// What the broker tells, and what it is told.
extension BridgeService {
    func handle(_ event: MQTTEvent) {
        switch event {
        case .acknowledged(let ticket): acknowledged(ticket)
        case .message(let message): received(message)
        case .connected(let session): connected(session)
        case .disconnected(let error, _):
            outbox.disconnected(isClosedByBroker: error.mayBeCausedByMessage, at: .now)
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
        client.withholdsAcknowledgements = outbox.intake != .open
    }

    private func received(_ message: MQTTMessage) {
        guard outbox.takesCommand() else { return }
        carryOut { bridge, now in bridge.received(IncomingMessage(message), at: now) }
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

    /// The client does not take a message, because it or the broker's limits forbid it; it is not sent again. One that found
    /// no connection is still in the outbox, which learns next that the connection has ended.
    private func refused(_ delivery: Outbox.Delivery, _ error: MQTTError) {
        guard error.code != .notConnected else { return }
        let (ticket, topic) = (delivery.ticket, delivery.publication.topic)
        // A delivery of QoS 0 has no ticket, and its topic is the bridge's own.
        let isChosenByRequester = ticket.flatMap { outbox.destination(of: $0) }?.isChosenByRequester ?? false
        EventLoop.shared.atEndOfTurn { [weak self] in self?.drop(ticket, topic, isChosenByRequester, error) }
    }

    /// The broker has answered a message with a failure; it is not sent again.
    private func rejected(_ ticket: UInt64, _ error: MQTTError) {
        guard let (topic, isChosenByRequester) = outbox.destination(of: ticket) else { return }
        drop(ticket, topic, isChosenByRequester, error)
    }

    /// The log has a warning for each topic of the bridge's own choice; a sender of commands may choose a forbidden one.
    private func drop(_ ticket: UInt64?, _ topic: String, _ isChosenByRequester: Bool, _ error: MQTTError) {
        send(outbox.refused(ticket, at: .now))
        reportLosses()
        let variables: [Logger.Metadata] = [(.topic, topic.shortened), (.error, error.description)]
        guard !isChosenByRequester else { return log.debug("the broker refuses a response", variables) }
        log.warning("the broker refuses a message", variables)
        carryOut { bridge, now in bridge.brokerRefused(messageTo: topic, error.code.name, at: now) }
    }

    private func acknowledged(_ ticket: UInt64) {
        send(outbox.acknowledged(ticket, at: .now))
        // A message may have expired in line.
        reportLosses()
    }

    /// Subscribe, then `online` and all facts, then what has waited: the order of the contract.
    private func connected(_ session: MQTTSession) {
        reconnects += 1
        subscribe(to: bridge.subscriptions)
        carryOut { bridge, now in bridge.brokerConnected(at: now) }
        carryOut { bridge, _ in bridge.broker(protocolVersion: session.version == .v5 ? 5 : 4) }
        send(outbox.connected(receiveMaximum: client.receiveMaximum, at: .now))
        reportLosses()
    }
}

extension String {
    /// The beginning of a topic, for the log: at most 256 bytes.
    var shortened: String { utf8.count <= 256 ? self : String(decoding: utf8.prefix(256), as: UTF8.self) + "..." }
}
