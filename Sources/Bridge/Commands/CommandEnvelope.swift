/// What every command may have beside its own keys.
struct CommandEnvelope: Hashable, Sendable {
    /// Comes back in the result; a repetition is not carried out again.
    let id: String?
    /// How long the command may wait for the tag.
    let timeToLive: Duration

    /// The longest `id`, in bytes.
    static let longestID = 64
    /// The longest `ttl_ms`: a day.
    static let longestMilliseconds: Int64 = 86_400_000
    private static let standardMilliseconds: Int64 = 10_000

    /// Reads `id` and `ttl_ms`; the message's own expiry counts as `ttl_ms`, and the shorter of both holds.
    init(_ payload: CommandPayload?, expirySeconds: UInt32?) throws(CommandFailure) {
        let arguments = CommandArguments(payload)
        id = try arguments.text("id", longest: Self.longestID)
        let told = try arguments.integer("ttl_ms", 0...Self.longestMilliseconds)
        let expiry = expirySeconds.map { min(Int64($0) * 1_000, Self.longestMilliseconds) }
        let shortest = [told, expiry].compactMap(\.self).min()
        timeToLive = .milliseconds(shortest ?? Self.standardMilliseconds)
    }

    /// The `id` of a command that may be wrong in every other way.
    static func id(of payload: CommandPayload?) -> String? {
        try? CommandArguments(payload).text("id", longest: longestID)
    }
}

extension CommandArguments {
    /// The keys of an object; anything else has none.
    fileprivate init(_ payload: CommandPayload?) {
        guard case .object(let object) = payload else {
            self.init([:])
            return
        }
        self.init(object)
    }
}
