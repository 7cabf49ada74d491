import Time

/// A message that the broker has not acknowledged, with its end.
struct Waiting: Hashable, Sendable {
    let message: Publication
    /// When it is too old.
    let expiry: Instant
    /// Whether it was in flight when the broker closed a connection: it may be the reason.
    var isSuspect = false

    /// Begins to wait now.
    init(_ message: Publication, at now: Instant) {
        self.message = message
        expiry = now + message.lifetime
    }

    func isExpired(at now: Instant) -> Bool { expiry <= now }

    /// Whether it answers a command.
    var isResult: Bool {
        if case .result = message.kind { true } else { false }
    }

    /// How much memory it takes: the texts, and about as much as they and the message need beside that.
    var bytes: Int {
        message.topic.utf8.count + message.payload.count + (message.correlationData?.count ?? 0) + Self.overhead
    }

    /// The message itself and the headers of its buffers.
    static let overhead = 256

    /// The message as it is to be sent after it has waited: the rest of its life, in whole seconds, at least one.
    func shortened(at now: Instant) -> Publication {
        guard let messageExpirySeconds = message.messageExpirySeconds else { return message }
        let milliseconds = max(1, (expiry - now).milliseconds)
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
