import Time

/// A queued or unacknowledged message with its expiry.
struct Waiting: Hashable, Sendable {
    let message: Publication
    /// When the message expires.
    let expiry: Instant
    /// Whether it was in flight when the broker closed a connection, and may be the cause.
    var isSuspect = false

    /// Starts the message's lifetime.
    init(_ message: Publication, at now: Instant) {
        self.message = message
        expiry = now + message.lifetime
    }

    func isExpired(at now: Instant) -> Bool { expiry <= now }

    /// Whether it is the result of a command.
    var isResult: Bool {
        if case .result = message.kind { true } else { false }
    }

    /// Estimated memory: the texts and a fixed overhead.
    var bytes: Int {
        message.topic.utf8.count + message.payload.count + (message.correlationData?.count ?? 0) + Self.overhead
    }

    /// The message itself and the headers of its buffers.
    static let overhead = 256

    /// Returns the message with the rest of its lifetime as message expiry, in whole seconds, at least one.
    func shortened(at now: Instant) -> Publication {
        guard let messageExpirySeconds = message.messageExpirySeconds else { return message }
        let milliseconds = max(1, (expiry - now).milliseconds)
        var copy = message
        copy.messageExpirySeconds = min(messageExpirySeconds, UInt32(clamping: (milliseconds + 999) / 1_000))
        return copy
    }
}

extension Publication {
    /// How long it may be queued; facts, reminders and streams are not queued.
    fileprivate var lifetime: Duration {
        switch kind {
        case .event(let lifetime), .result(let lifetime): lifetime
        case .fact, .reminder, .stream: .zero
        }
    }
}
