public import EventLoop
public import Time

/// Queues events for one reader, so that a flow of several steps can be written as one function.
@LoopActor
public final class Mailbox<Letter: Sendable> {
    private var letters: [Letter] = []
    private var reader: CheckedContinuation<Void, Never>?
    private lazy var timer = LoopTimer { [unowned self] in wake() }

    /// Creates an empty queue.
    public init() {}

    /// Appends an event.
    public func put(_ letter: Letter) {
        letters.append(letter)
        wake()
    }

    /// Removes the first event, and waits for it if there is none.
    ///
    /// - Parameter deadline: the end of the wait; nil: none.
    /// - Returns: nil at the deadline.
    public func next(until deadline: Instant?) async -> Letter? {
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
