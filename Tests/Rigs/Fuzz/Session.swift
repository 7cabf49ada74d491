import JacquardProtocol
import Time

/// A session in whatever state the bytes bring it to, and values of the tag in it. Every command ends at most once, and
/// exactly once when the session has been stopped.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var play = SessionPlay(Input(start, count))
    play.run()
    return 0
}

private struct SessionPlay {
    private var input: Input
    private var session = TagSession(seed: 1)
    private var now = Instant(sinceBoot: .seconds(3_600))
    private var open: Set<UInt64> = []
    private var lastToken: UInt64 = 0

    init(_ input: Input) {
        self.input = input
    }

    mutating func run() {
        // Half of the runs begin connected, where most of what the tag says counts.
        if input.byte() % 2 == 0 { connectFully() }
        while !input.isAtEnd { step() }
        take(session.disconnect(at: now))
        take(session.linkDown(nil, at: now))
        require(open.isEmpty, "commands \(open.sorted()) have not ended with the session")
        require(session.deadline == nil, "a stopped session waits for something")
    }

    private mutating func connectFully() {
        take(session.connect(at: now))
        take(session.linkUp(at: now))
        take(session.discovered([.write, .writeWithoutResponse], at: now))
        for _ in 0..<3 { take(session.subscribed(at: now)) }
    }

    private mutating func step() {
        let failure = TagConnectionError(.bluetoothConnectionError, "fuzz")
        switch input.byte() % 20 {
        case 0:
            take(
                session.connect(retrying: input.pick([.always, .oncePaired]), bonding: input.byte() % 2 == 0, at: now))
        case 1: take(session.disconnect(at: now))
        case 2: take(session.poweredOff(failure, at: now))
        case 3: take(session.linkUp(at: now))
        case 4: take(session.linkDown(input.byte() % 2 == 0 ? nil : failure, at: now))
        case 5: take(session.bonded(at: now))
        case 6: take(session.bondingFailed(failure, at: now))
        case 7: take(session.discovered(TagSession.Properties(rawValue: input.byte()), at: now))
        case 8: take(session.discoveryFailed(failure, at: now))
        case 9: take(session.subscribed(at: now))
        case 10: take(session.subscribeFailed(failure, at: now))
        case 11: take(session.written(at: now))
        case 12: take(session.writeFailed(failure, isNotPermitted: input.byte() % 2 == 0, at: now))
        case 13:
            if let deadline = session.deadline { now = max(now, deadline) }
            take(session.deadlineReached(at: now))
        case 14: now += .milliseconds(Int(input.byte()) * 50)
        case 15: enqueue()
        case 16:
            take(session.received(input.bytes(), on: input.pick([.response, .notify, .rawData, .command]), at: now))
        case 17: tagSays(.response)
        default: tagSays(.notify)
        }
    }

    /// A whole packet, cut as a tag would.
    private mutating func tagSays(_ characteristic: TagCharacteristic) {
        let packet = input.bytes()
        guard let fragments = try? Fragmenter.fragments(of: packet) else { return }
        for fragment in fragments { take(session.received(fragment, on: characteristic, at: now)) }
    }

    private mutating func enqueue() {
        lastToken += 1
        open.insert(lastToken)
        take(session.enqueue(command(), token: lastToken, at: now))
    }

    private mutating func command() -> TagCommand {
        let target = input.pick(TagCommand.Target.allCases)
        switch input.byte() % 8 {
        case 0: return .batteryStatus
        case 1: return .deviceInformation(of: target)
        case 2: return .rename(input.text())
        case 3: return .configGet(key: input.text())
        case 4: return .configSet(key: input.text(), .string(input.text()))
        case 5: return .setTouchMode(input.pick([.gesture, .continuous]))
        case 6: return .playHaptic(.stop)
        default: return .disconnectTag(timeoutSeconds: UInt32(input.byte()))
        }
    }

    private mutating func take(_ actions: [TagSession.Action]) {
        for case .emit(.commandEnded(let token, _)) in actions {
            require(open.remove(token) != nil, "command \(token) ended twice")
        }
    }
}
