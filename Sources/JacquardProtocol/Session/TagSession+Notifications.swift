public import Time

extension TagSession {
    /// Handles a notified value.
    ///
    /// - Parameters:
    ///   - value: a fragment of a packet.
    ///   - characteristic: the characteristic. Only `response` and `notify` are used.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func received(
        _ value: [UInt8], on characteristic: TagCharacteristic, at now: Instant
    ) -> [Action] {
        guard isListening else { return [] }
        link.unanswered = 0
        var actions: [Action] = []
        switch characteristic {
        case .notify:
            if let packet = Self.reassemble(value, in: &link.notifications, &actions) {
                notified(packet, at: now, &actions)
            }
        case .response:
            if let packet = Self.reassemble(value, in: &link.responses, &actions) {
                actions += responseReceived(packet, at: now)
            }
        case .command, .rawData: break
        }
        return actions
    }

    /// Whether values of the tag are accepted. The tag sends battery and gear right after the subscription.
    private var isListening: Bool {
        switch state {
        case .subscribing, .starting, .connected: true
        case .stopped, .waiting, .linking, .bonding, .discovering, .closing: false
        }
    }

    private static func reassemble(
        _ value: [UInt8], in reassembler: inout Reassembler, _ actions: inout [Action]
    ) -> ArraySlice<UInt8>? {
        let lost = reassembler.lostPackets
        let outcome = reassembler.receive(value)
        if lost != reassembler.lostPackets { actions.append(.emit(.fragmentsLost)) }
        guard case .packet(let packet) = outcome else { return nil }
        return packet
    }

    /// Handles a notification packet. Its bodies identify it, not its domain and opcode, as in both SDKs.
    private mutating func notified(
        _ packet: ArraySlice<UInt8>, at now: Instant, _ actions: inout [Action]
    ) {
        guard let notification = try? Notification.decode(packet) else { return }
        if let data = notification.dataChannel {
            if let gesture = data.gesture {
                followTouchMode(.gesture, at: now, &actions)
                actions.append(.emit(.gesture(gesture)))
            }
            if let touch = data.touch {
                followTouchMode(.continuous, at: now, &actions)
                actions.append(.emit(.touch(touch)))
            }
        }
        if let status = notification.batteryStatus?.status { actions += batteryReceived(status, at: now) }
        if let attached = notification.attached {
            actions += gearChanged(to: attached.gear(in: catalogue), at: now)
        }
    }
}
