/// Which version of the protocol to try next: MQTT 5 unless the broker rejects it.
///
/// Brokers reject it in three ways. A reason code is final for this process. Old brokers close the connection without an
/// answer, as a broker that is starting does too, and some stay silent, as one that hangs. That makes 3.1.1 a guess: it is
/// tried next, and MQTT 5 is tried again when 3.1.1 fails as well, or after the connection that 3.1.1 has brought.
struct ProtocolChoice {
    private(set) var version: MQTTVersion
    private let isFixed: Bool
    /// Whether the broker has rejected MQTT 5 by a reason code.
    private var isRejected = false
    /// Whether a broker has accepted MQTT 5.
    private var isProven = false
    /// How many attempts with MQTT 5 were not answered since the last connection.
    private var silences = 0

    /// After a connection by MQTT 5, so many unanswered attempts are a reason to try 3.1.1: a broker that hangs for a while
    /// would discard the session for it.
    static let patience = 3

    init(_ configured: MQTTConfiguration.Version) {
        version = configured == .v311 ? .v311 : .v5
        isFixed = configured != .automatic
    }

    /// Handles a connection that the broker has accepted.
    mutating func accepted() {
        if version == .v5 { isProven = true }
        silences = 0
    }

    /// Handles the end of a connection that the broker had accepted.
    mutating func connectionEnded() {
        returnToVersion5()
    }

    /// Handles a failed attempt.
    ///
    /// - Returns: whether the version has changed.
    mutating func failed(_ code: MQTTError.Code) -> Bool {
        guard !isFixed else { return false }
        switch code {
        case .unsupportedProtocolVersion where version == .v5:
            isRejected = true
            version = .v311
            return true
        // A response in the format of the other version is reported as `protocol_error`.
        case .connectionLost where version == .v5, .protocolError where version == .v5:
            version = .v311
            return true
        case .timeout where version == .v5: return noteSilence()
        // The broker has accepted this version.
        case .sessionRefused: return false
        default: return returnToVersion5()
        }
    }

    private mutating func noteSilence() -> Bool {
        silences += 1
        guard !isProven || silences.isMultiple(of: Self.patience) else { return false }
        version = .v311
        return true
    }

    @discardableResult
    private mutating func returnToVersion5() -> Bool {
        guard !isFixed, !isRejected, version == .v311 else { return false }
        version = .v5
        return true
    }
}
