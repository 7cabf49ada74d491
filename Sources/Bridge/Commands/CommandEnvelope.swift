/// The keys that all commands share.
struct CommandEnvelope: Hashable, Sendable {
    /// Returned in the result. A command with the same `id` is not executed again.
    let id: String?
    /// How long the command may wait for the tag.
    let timeToLive: Duration

    /// The longest `id`, in bytes.
    static let longestID = 64
    /// Maximum `ttl_ms`: one day.
    static let longestMilliseconds: Int64 = 86_400_000
    private static let standardMilliseconds: Int64 = 10_000

    /// Reads `id` and `ttl_ms`. The message expiry also limits the lifetime; the shorter of the two applies.
    init(_ payload: CommandPayload?, expirySeconds: UInt32?) throws(CommandFailure) {
        let arguments = CommandArguments(payload)
        id = try arguments.text("id", longest: Self.longestID)
        let told = try arguments.integer("ttl_ms", 0...Self.longestMilliseconds)
        let expiry = expirySeconds.map { min(Int64($0) * 1_000, Self.longestMilliseconds) }
        let shortest = [told, expiry].compactMap(\.self).min()
        timeToLive = .milliseconds(shortest ?? Self.standardMilliseconds)
    }

    /// Returns the `id` of a command whose other keys may be invalid.
    static func id(of payload: CommandPayload?) -> String? {
        try? CommandArguments(payload).text("id", longest: longestID)
    }
}

extension CommandArguments {
    /// Returns the keys of an object, and none for any other payload.
    fileprivate init(_ payload: CommandPayload?) {
        guard case .object(let object) = payload else {
            self.init([:])
            return
        }
        self.init(object)
    }
}
