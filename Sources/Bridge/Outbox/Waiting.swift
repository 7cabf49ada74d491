/// A message that the broker has not acknowledged, with its end.
struct Waiting: Hashable, Sendable {
    let message: Publication
    /// When it is too old, by the outbox's own time.
    let expiry: Duration

    /// Begins to wait now.
    init(_ message: Publication, at now: Duration) {
        self.message = message
        expiry = now + message.lifetime
    }

    func isExpired(at now: Duration) -> Bool { expiry <= now }

    /// The message as it is to be sent after it has waited: the rest of its life, in whole seconds, at least one.
    func shortened(at now: Duration) -> Publication {
        guard let messageExpirySeconds = message.messageExpirySeconds else { return message }
        let milliseconds = max(1, (expiry - now).wholeMilliseconds)
        var copy = message
        copy.messageExpirySeconds = min(messageExpirySeconds, UInt32(clamping: (milliseconds + 999) / 1_000))
        return copy
    }
}

extension Publication {
    /// How long it may wait; facts, reminders and streams do not wait.
    fileprivate var lifetime: Duration {
        switch kind {
        case .event(let lifetime), .result(let lifetime): lifetime
        case .fact, .reminder, .stream: .zero
        }
    }
}
