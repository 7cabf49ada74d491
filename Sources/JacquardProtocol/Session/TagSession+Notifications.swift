extension TagSession {
    /// A characteristic notified a value.
    public mutating func received(
        _ value: [UInt8], on characteristic: TagCharacteristic, at now: ContinuousClock.Instant
    ) -> [Action] {
        switch characteristic {
        case .notify:
            let lost = link.notifications.lostPackets
            let outcome = link.notifications.receive(value)
            let news = lost == link.notifications.lostPackets ? [] : [Action.emit(.fragmentsLost)]
            guard case .packet(let packet) = outcome else { return news }
            return news + notified(packet, at: now)
        case .response:
            let lost = link.responses.lostPackets
            let outcome = link.responses.receive(value)
            let news = lost == link.responses.lostPackets ? [] : [Action.emit(.fragmentsLost)]
            guard case .packet(let packet) = outcome else { return news }
            return news + answered(packet, at: now)
        case .command, .rawData: return []
        }
    }

    /// A notification is known by the bodies that it has, never by domain and opcode, as both SDKs do it.
    private mutating func notified(_ packet: ArraySlice<UInt8>, at now: ContinuousClock.Instant) -> [Action] {
        guard let notification = try? Notification.decode(packet) else { return [] }
        var actions: [Action] = []
        if let data = notification.dataChannel {
            if let gesture = data.gesture { actions.append(.emit(.gesture(gesture))) }
            if let touch = data.touch { actions.append(.emit(.touch(touch))) }
        }
        if let status = notification.batteryStatus?.status { actions.append(.emit(.battery(status))) }
        if let attached = notification.attached {
            actions += gearChanged(to: attached.gear(in: catalogue), at: now)
        }
        return actions
    }
}
