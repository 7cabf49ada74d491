import JacquardProtocol
import Time

extension Firmware {
    /// Carries a request out and answers it, as healthily as the faults allow.
    mutating func answer(_ request: Request, id: UInt32, at now: Instant) -> [FirmwareAction] {
        let fault = faults.take()
        if fault == .hang { return [] }
        let reply: Reply
        if case .status(let number) = fault {
            reply = .refused(Status(rawValue: number))
        } else {
            reply = carryOut(request, at: now)
        }
        let component = request.domain == .gear ? request.componentID ?? gear?.componentID : nil
        let response = Response(
            id: id, status: reply.status, componentID: component ?? Component.tagComponentID, body: reply.body)
        return reply.told.map { [.told($0)] }.orEmpty + send(response, fault, at: now) + reply.afterwards
    }

    private mutating func send(
        _ response: Response, _ fault: Faults.AnswerFault?, at now: Instant
    ) -> [FirmwareAction] {
        let healthy = notify(response.encoded(), on: .response)
        switch fault {
        case nil, .hang, .status: return healthy
        case .drop: return []
        case .delay(let wait):
            link?.plan(healthy, at: now + wait)
            return []
        case .double: return healthy + healthy
        case .wrongID: return send(response) { $0.id &+= 1 }
        case .noBody: return send(response) { $0.body = nil }
        case .malformed: return notify([0xFF, 0xFF, 0xFF], on: .response)
        case .truncated:
            let packet = response.encoded()
            return notify(Array(packet.prefix(packet.count / 2)), on: .response)
        case .lostFragment: return healthy.dropLast()
        }
    }

    private func send(_ response: Response, _ change: (inout Response) -> Void) -> [FirmwareAction] {
        var response = response
        change(&response)
        return notify(response.encoded(), on: .response)
    }

    /// The fragments of a packet; none when the client has not subscribed, as the radio sends none then.
    func notify(_ packet: [UInt8], on channel: TagCharacteristic) -> [FirmwareAction] {
        guard let link, link.subscriptions.contains(channel),
            let fragments = try? Fragmenter.fragments(of: packet, maximumLength: link.fragmentLength)
        else {
            return []
        }
        return fragments.map { .notify($0, on: channel) }
    }

    func notify(_ notification: Notification) -> [FirmwareAction] {
        notify(notification.encoded(), on: .notify)
    }
}

extension Optional where Wrapped == [FirmwareAction] {
    fileprivate var orEmpty: [FirmwareAction] { self ?? [] }
}
