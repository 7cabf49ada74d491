import EventLoop
import FakeBlueZ
import JacquardProtocol
import TagFirmware
import Time

/// Makes the gestures or touches of a burst, at their rate or as fast as the client takes them.
@LoopActor
final class BurstPlayer {
    private unowned let tag: SimulatedTag
    private var running: Run?
    private lazy var timer = LoopTimer { [unowned self] in play() }

    private struct Run {
        let burst: Burst
        let start: Instant
        let droppedBefore: Int
        var made = 0
    }

    /// How many are made in one turn of the loop, so that everything else has its turn too.
    private static let step = 64

    init(_ tag: SimulatedTag) {
        self.tag = tag
    }

    /// Begins a burst; the first of it is made at once.
    ///
    /// - Throws: `FirmwareError` when the tag cannot do it, or is still busy with another burst.
    func begin(_ burst: Burst) throws(FirmwareError) {
        guard running == nil else { throw FirmwareError("it is still busy with the gestures before") }
        var run = Run(burst: burst, start: .now, droppedBefore: tag.outbox.dropped)
        try makeOne(&run)
        running = run
        play()
    }

    /// The client has taken what waited.
    func hasRoom() {
        play()
    }

    /// Stops the burst after the client has disconnected.
    func linkHasGone() {
        guard let run = running else { return }
        end(run)
    }

    private func makeOne(_ run: inout Run) throws(FirmwareError) {
        let (burst, index) = (run.burst, run.made)
        try tag.act { firmware, now throws(FirmwareError) in
            try burst.make(index, with: &firmware, at: now)
        }
        run.made += 1
    }

    private func play() {
        guard var run = running else { return }
        let goal = min(due(run), run.made + Self.step)
        while run.made < goal, tag.outbox.isEmpty {
            do {
                try makeOne(&run)
            } catch {
                return end(run)
            }
        }
        guard run.made < run.burst.count else { return end(run) }
        running = run
        // With values waiting, the client's room goes on with it.
        if tag.outbox.isEmpty { timer.arm(at: nextTime(run)) }
    }

    /// How many should have been made by now.
    private func due(_ run: Run) -> Int {
        guard let rate = run.burst.rate else { return run.burst.count }
        let seconds = Double((Instant.now - run.start).microseconds) / 1_000_000
        return min(run.burst.count, Int(seconds * rate) + 1)
    }

    private func nextTime(_ run: Run) -> Instant {
        guard let rate = run.burst.rate else { return .now }
        return run.start + .seconds(Double(run.made) / rate)
    }

    private func end(_ run: Run) {
        running = nil
        timer.disarm()
        let dropped = tag.outbox.dropped - run.droppedBefore
        if run.burst.count > 1 || dropped > 0 { tag.report(.burst(sent: run.made, dropped: dropped)) }
    }
}

/// The values of one tag that wait for room in a client's socket.
///
/// bluetoothd drops such a value. A radio would not have sent it so fast in the first place, so here it waits, unless
/// losses are wanted.
@LoopActor
final class NotificationQueue {
    /// How many values found no place.
    private(set) var dropped = 0
    private let isLossy: Bool
    private var waiting: [(value: [UInt8], channel: TagCharacteristic)] = []

    /// A client that does not read is not waited for without end.
    private static let limit = 256

    init(isLossy: Bool) {
        self.isLossy = isLossy
    }

    /// Whether nothing waits.
    var isEmpty: Bool { waiting.isEmpty }

    func send(_ value: [UInt8], on channel: TagCharacteristic, over link: any PeripheralLink) {
        if waiting.isEmpty, link.notify(value, on: channel.uuid) != .full { return }
        if isLossy || waiting.count >= Self.limit {
            dropped += 1
        } else {
            waiting.append((value, channel))
        }
    }

    /// Sends what waits, as far as there is room.
    ///
    /// - Returns: whether the queue is empty.
    func flush(over link: any PeripheralLink) -> Bool {
        while let first = waiting.first {
            guard link.notify(first.value, on: first.channel.uuid) != .full else { return false }
            waiting.removeFirst()
        }
        return true
    }

    /// Forgets what waits: the link has gone.
    func clear() {
        waiting = []
    }
}
