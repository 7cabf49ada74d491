internal import EventLoop
import Time

/// Calls that wait for their reply, by serial number. One timer serves all deadlines.
///
/// libdbus would use a timer for each call, which is expensive with one call for each written value.
@LoopActor
final class PendingCalls {
    typealias Completion = @LoopActor (Result<DBusMessage, DBusError>) -> Void

    /// Called with the member of a call whose deadline has passed.
    var onExpiry: (@LoopActor (String) -> Void)?

    /// Called after calls were answered or have expired.
    var onEnd: (@LoopActor () -> Void)?
    /// The number of calls.
    var count: Int { calls.count }

    private struct Call {
        /// Kept for its member, which only an expired call names.
        let message: DBusMessage
        let deadline: Instant
        let completion: Completion
    }

    private var calls: [UInt32: Call] = [:]
    private var earliest: Instant?
    private lazy var timer = LoopTimer { [unowned self] in expire() }

    func add(_ serial: UInt32, _ message: DBusMessage, within limit: Duration, _ completion: @escaping Completion) {
        let deadline = Instant.now + limit
        calls[serial] = Call(message: message, deadline: deadline, completion: completion)
        // A reply leaves the timer unchanged: most calls get a reply, and moving the timer is a system call.
        guard earliest.map({ deadline < $0 }) ?? true else { return }
        earliest = deadline
        timer.arm(at: deadline, accuracy: .milliseconds(50))
    }

    /// Ends a call. A reply without a pending call, such as one after the deadline, is dropped.
    func end(_ serial: UInt32, _ result: Result<DBusMessage, DBusError>) {
        guard let call = calls.removeValue(forKey: serial) else { return }
        call.completion(result)
        onEnd?()
    }

    func failAll(_ error: DBusError) {
        let ended = calls
        calls = [:]
        earliest = nil
        timer.disarm()
        for call in ended.sorted(by: { $0.key < $1.key }) { call.value.completion(.failure(error)) }
    }

    private func expire() {
        // The usual case: all calls have got a reply meanwhile.
        guard !calls.isEmpty else { return earliest = nil }
        let now = Instant.now
        // In the order of their deadlines, of which a busy loop may have missed several.
        let due = calls.filter { $0.value.deadline <= now }
            .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        for (serial, _) in due { calls[serial] = nil }
        earliest = calls.values.map(\.deadline).min()
        if let earliest { timer.arm(at: earliest, accuracy: .milliseconds(50)) }
        for (_, call) in due {
            let member = call.message.member
            onExpiry?(member)
            call.completion(
                .failure(
                    DBusError(
                        .timeout, name: "org.freedesktop.DBus.Error.NoReply", text: "no answer to \(member)")))
        }
        onEnd?()
    }
}
