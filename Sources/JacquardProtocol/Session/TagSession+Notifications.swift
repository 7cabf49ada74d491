public import Time

extension TagSession {
    /// A characteristic notified a value.
    ///
    /// - Parameters:
    ///   - value: a fragment of a packet.
    ///   - characteristic: where it came; of the four only `response` and `notify` matter here.
    ///   - now: the time.
    /// - Returns: what to do now.
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
                actions += answered(packet, at: now)
            }
        case .command, .rawData: break
        }
        return actions
    }

    /// Whether what comes belongs to a connection that is wanted. The tag tells battery and gear as soon as it may.
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

    /// A notification is known by the bodies that it has, never by domain and opcode, as both SDKs do it.
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
