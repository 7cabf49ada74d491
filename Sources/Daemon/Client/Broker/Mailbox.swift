import EventLoop
import Time

/// Keeps what has happened until its one reader asks for it, so that a flow of steps can be written as one.
@LoopActor
final class Mailbox<Letter: Sendable> {
    private var letters: [Letter] = []
    private var reader: CheckedContinuation<Void, Never>?
    private lazy var timer = LoopTimer { [unowned self] in wake() }

    /// Puts something at the end.
    func put(_ letter: Letter) {
        letters.append(letter)
        wake()
    }

    /// Takes the first, waiting for it if there is none.
    ///
    /// - Parameter deadline: how long to wait; nil: without limit.
    /// - Returns: nil when the time is over.
    func next(until deadline: Instant?) async -> Letter? {
        while letters.isEmpty {
            if let deadline, deadline <= .now { return nil }
            timer.arm(at: deadline)
            await withCheckedContinuation { reader = $0 }
            timer.disarm()
        }
        return letters.removeFirst()
    }

    private func wake() {
        reader?.resume()
        reader = nil
    }
}
