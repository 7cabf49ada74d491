import JacquardProtocol
import TagFirmware
import Testing
import Time

/// The session of a client and the firmware of a tag, connected by bytes.
struct SessionLoop {
    private(set) var session = TagSession(seed: 1)
    var firmware: Firmware
    private(set) var now = Instant(sinceBoot: .seconds(100))
    /// The reports of the session, without the states of the connection.
    private(set) var events: [TagEvent] = []
    /// The fragments that were written to the raw data characteristic.
    private(set) var rawWrites: [[UInt8]] = []
    /// The requests that the tag has received.
    private(set) var requests: [Request] = []
    private(set) var isConnected = false
    /// How many acknowledgements are lost on the air.
    var lostAcknowledgements = 0

    /// Requests about motion data with this opcode are lost on the air.
    var lostRequest: Opcode?

    private enum Step {
        case client(TagSession.Action)
        case tag(FirmwareAction)
    }

    private var steps: [Step] = []
    private var reassembler = Reassembler()
    private var lastToken: UInt64 = 0

    /// A connected tag.
    init(_ change: (inout Firmware) -> Void = { _ in }) throws {
        firmware = Firmware(FirmwareIdentity(serial: try #require(PairingSerial("0001"))))
        change(&firmware)
        run(session.connect(at: now))
    }

    /// Sends a command.
    ///
    /// - Returns: its token.
    mutating func begin(_ command: TagCommand) -> UInt64 {
        lastToken += 1
        run(session.enqueue(command, token: lastToken, at: now))
        return lastToken
    }

    /// Sends a command and returns its result, with the time that it needs.
    mutating func perform(
        _ command: TagCommand, within limit: Duration = .seconds(120)
    ) -> Result<TagCommandResponse, TagCommandError>? {
        let token = begin(command)
        let end = now + limit
        while true {
            for case .commandEnded(token, let result) in events { return result }
            guard let next = deadline, next <= end else { return nil }
            reach(next)
        }
    }

    /// Lets time pass.
    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let next = deadline, next <= end { reach(next) }
        now = end
    }

    /// Performs an action of a person.
    mutating func act(_ action: TagAction) throws {
        run(try firmware.execute(action).map(Step.tag))
    }

    /// Selects views of raw data.
    mutating func observe(_ views: RawViews) {
        run(session.observeRawData(views))
    }

    /// The bytes of the transfers so far.
    var data: [UInt8] {
        events.flatMap { event -> [UInt8] in if case .motion(.data(let bytes)) = event { bytes } else { [] } }
    }

    private var deadline: Instant? {
        [session.deadline, firmware.deadline].compactMap(\.self).min()
    }

    private mutating func reach(_ instant: Instant) {
        now = max(now, instant)
        run(session.deadlineReached(at: now))
        run(firmware.timeReached(at: now).map(Step.tag))
    }

    private mutating func run(_ actions: [TagSession.Action]) { run(actions.map(Step.client)) }

    private mutating func run(_ new: [Step]) {
        steps += new
        while !steps.isEmpty {
            switch steps.removeFirst() {
            case .client(let action): steps += perform(action)
            case .tag(let action): steps += perform(action)
            }
        }
    }

    private mutating func perform(_ action: TagSession.Action) -> [Step] {
        switch action {
        case .connect: return firmware.connected(at: now).map(Step.tag) + client(session.linkUp(at: now))
        case .disconnect: return firmware.disconnected().map(Step.tag) + client(session.linkDown(nil, at: now))
        case .bond: return client(session.bonded(at: now))
        case .discover: return client(session.discovered([.write, .writeWithoutResponse], at: now))
        case .subscribe(let channel):
            firmware.subscribed(channel)
            return client(session.subscribed(at: now))
        case .write(let value, _):
            if case .packet(let packet) = reassembler.receive(value), let request = try? Request.decode(packet) {
                requests.append(request.request)
                if request.request.domain == .motion, request.request.opcode == lostRequest {
                    return client(session.written(at: now))
                }
            }
            return firmware.write(value, on: .command, at: now).map(Step.tag) + client(session.written(at: now))
        case .writeRaw(let value):
            rawWrites.append(value)
            var answer: [FirmwareAction] = []
            if lostAcknowledgements > 0 {
                lostAcknowledgements -= 1
            } else {
                answer = firmware.write(value, on: .rawData, at: now)
            }
            return client(session.written(at: now)) + answer.map(Step.tag)
        case .emit(.connection(let connection)):
            isConnected = connection.state == .connected
            return []
        case .emit(let event):
            events.append(event)
            return []
        }
    }

    private mutating func perform(_ action: FirmwareAction) -> [Step] {
        switch action {
        case .notify(let value, let channel): return client(session.received(value, on: channel, at: now))
        case .dropLink:
            let lost = TagConnectionError(.bluetoothConnectionError, "the link was dropped")
            return firmware.disconnected().map(Step.tag) + client(session.linkDown(lost, at: now))
        case .advertise, .effect: return []
        }
    }

    private func client(_ actions: [TagSession.Action]) -> [Step] { actions.map(Step.client) }
}
