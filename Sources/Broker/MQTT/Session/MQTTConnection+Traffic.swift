internal import EventLoop
import MQTTTypes
import Time

extension MQTTConnection {
    /// Upper bound on unacknowledged messages. The library keeps them in memory, and numbers them with 16 bits without
    /// checking which numbers are in use.
    static let backlogLimit = 8192

    /// Queues a message; it is written at the end of the loop's turn.
    func publish(_ message: MQTTMessage, ticket: UInt64) throws(MQTTError) {
        guard phase == .active || phase == .finishing else { throw .notConnected }
        guard outstanding.messages + subscriptions.held.count < Self.backlogLimit else {
            throw MQTTError(.backlogFull, "\(Self.backlogLimit) messages wait for their acknowledgement")
        }
        if phase == .active, subscriptions.holdsMessages { return subscriptions.hold(message, ticket) }
        outstanding.published(try send(message), ticket: ticket)
        planFlush()
    }

    /// Passes a message to the library, which knows the limits, but says nothing about them.
    private func send(_ message: MQTTMessage) throws(MQTTError) -> CInt {
        do throws(MQTTError) {
            return try instance.publish(message, version)
        } catch {
            guard error.code == .packetTooLarge, let limit = limits.maximumPacketSize else { throw error }
            throw MQTTError(
                .packetTooLarge,
                "the broker takes at most \(limit) bytes, and the message has \(message.payload.count)",
                underlying: error.underlying)
        }
    }

    /// Queues a subscription; see ``SubscriptionQueue``.
    func subscribe(to filters: [MQTTTopicFilter], _ qos: MQTTQoS) throws(MQTTError) {
        guard phase == .active else { throw .notConnected }
        subscriptions.append(filters, qos)
        try subscribeNext()
    }

    /// Sends the next SUBSCRIBE, unless the broker owes an answer, and the messages that no longer wait.
    private func subscribeNext() throws(MQTTError) {
        while let packet = subscriptions.next() {
            do throws(MQTTError) {
                outstanding.subscribed(
                    try instance.subscribe(to: packet.filters, packet.qos), to: packet.filters, packet.qos)
                subscriptionLimit.arm(after: configuration.connectDeadline)
            } catch {
                subscriptions.answered()
                sendHeld(subscriptions.takeMessages())
                throw error
            }
        }
        sendHeld(subscriptions.takeMessages())
        planFlush()
    }

    /// The broker has answered a SUBSCRIBE, or has had its time: what waits is sent.
    func subscriptionAnswered() {
        guard phase == .active else { return }
        subscriptionLimit.disarm()
        subscriptions.answered()
        // The filters were checked when they were parsed: an error is one of the connection, which then ends.
        try? subscribeNext()
    }

    func sendHeld(_ messages: [SubscriptionQueue.HeldMessage]) {
        for held in messages {
            do throws(MQTTError) {
                outstanding.published(try send(held.message), ticket: held.ticket)
            } catch {
                deliver(.unsendable(ticket: held.ticket, error))
            }
        }
    }

    /// Queues the end of a subscription. The broker's answer is not awaited.
    func unsubscribe(from filter: MQTTTopicFilter) throws(MQTTError) {
        guard phase == .active else { throw .notConnected }
        subscriptions.remove(filter)
        try instance.unsubscribe(from: filter)
        planFlush()
    }

    /// Handles events of the socket.
    func ready(_ events: DescriptorSource.Events) {
        guard phase != .connecting || isEstablished(events) else { return }
        // Room to write needs no read, except during a TLS handshake, which continues in a read whatever it waits for.
        if events != .writable || phase == .greeting { receive() }
        if events.contains(.writable) || phase == .greeting { flush() }
        // The library does not report a reset during the TLS handshake, and the loop would repeat this call forever
        // (net_mosq.c, net__socket_connect_tls: SSL_ERROR_SYSCALL).
        if phase == .greeting, !events.isDisjoint(with: [.hangUp, .error]) { close(.resetInHandshake) }
    }

    private func receive() {
        keepAlive?.read(at: .now)
        settle(instance.read())
        // Acknowledgements, and messages published by the handlers.
        if instance.wantsToWrite, !isWithholding { planFlush() }
    }

    /// Whether everything that the library has queued may wait. Above the receive maximum, it queues published
    /// messages, too.
    private var isWithholding: Bool {
        withholdsAcknowledgements && (1...receiveMaximum).contains(outstanding.messages)
    }

    /// Writes everything that was queued in this turn at its end, in one packet if possible.
    func planFlush() {
        // Messages queued by the handlers of a flush need no other one: the descriptor reports that they can be
        // written.
        if !isFlushing { plannedFlush.request() }
    }

    /// Writes now.
    func flush() {
        guard phase != .closed else { return }
        isFlushing = true
        defer { isFlushing = false }
        let now = Instant.now
        keepAlive?.written(at: now)
        settle(instance.write())
        if outstanding.isUnwritten, phase != .closed, !instance.wantsToWrite {
            outstanding.written()
            onWritten?(now)
        }
        // During the TLS handshake, ignore `wantsToWrite`: the library never resets it (net_mosq.c,
        // net__socket_connect_tls). The few bytes of the handshake always fit into the socket's buffer.
        let isHandshake = phase == .greeting && configuration.tls != nil
        watch?.events = instance.wantsToWrite && !isHandshake ? [.readable, .writable] : .readable
    }

    /// Delivers the events of a call of the library, and checks its result.
    private func settle(_ outcome: BrokerLinkOutcome) {
        instance.takeSignals(handle)
        guard phase != .closed else { return }
        guard outcome.isSuccess, instance.descriptor >= 0 else {
            return close(instance.error(for: outcome.status, errno: outcome.number))
        }
        leaveIfFinished()
    }

    private func handle(_ signal: BrokerLinkSignal) {
        switch signal {
        case .accepted(let isSessionPresent, let keepAlive, let receiveMaximum, let limits):
            self.limits = limits
            accepted(isSessionPresent: isSessionPresent, keepAlive: keepAlive, receiveMaximum: receiveMaximum)
        case .message(let message): deliver(.message(message))
        case .published(let identifier, let reason):
            guard let ticket = outstanding.ticket(for: identifier) else { return }
            deliver(.published(ticket: ticket, reason))
        case .subscribed(let identifier, let reasons):
            outstanding.answers(of: identifier, reasons).forEach { deliver(.subscription($0, $1)) }
            subscriptionAnswered()
        }
    }

    // MARK: Keep-alive

    /// - Parameter seconds: the interval; 0 if the broker disables keep-alive.
    func startKeepAlive(seconds: Int) {
        guard seconds > 0 else { return }
        keepAlive = KeepAlive(interval: .seconds(seconds), now: .now)
        checkKeepAlive()
    }

    /// Probes a silent broker, disconnects from one that does not respond, and arms the timer for the next check.
    func checkKeepAlive() {
        guard phase != .closed, let keepAlive else { return }
        switch keepAlive.action(at: .now) {
        case .wait(let instant): keepAliveTimer.arm(at: instant, accuracy: keepAlive.accuracy)
        case .giveUp: close(.silent)
        case .probe: probe()
        }
    }

    private func probe() {
        settle(instance.probe())
        keepAlive?.probed(at: .now, wasSent: instance.wantsToWrite)
        flush()
        checkKeepAlive()
    }
}
