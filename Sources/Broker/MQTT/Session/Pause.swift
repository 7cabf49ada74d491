internal import EventLoop

/// A pause that can be ended early.
@LoopActor
final class Pause {
    private var waiting: CheckedContinuation<Void, Never>?
    private lazy var timer = LoopTimer { [unowned self] in end() }

    func wait(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            waiting = continuation
            timer.arm(after: time, accuracy: time / 10)
        }
    }

    /// Ends the pause, if there is one.
    func end() {
        timer.disarm()
        waiting?.resume()
        waiting = nil
    }
}
