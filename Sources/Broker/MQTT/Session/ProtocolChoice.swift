/// Which version of the protocol to try next: MQTT 5 unless the broker rejects it.
///
/// Brokers reject it in two ways. A reason code is final for this process. Old brokers close the connection without an
/// answer, as a broker that is starting does too. That makes 3.1.1 a guess: it is tried next, and MQTT 5 is tried again
/// when 3.1.1 fails as well, or after the connection that 3.1.1 has brought.
struct ProtocolChoice {
    private(set) var version: MQTTVersion
    private let isFixed: Bool
    /// Whether the broker has rejected MQTT 5 by a reason code.
    private var isRejected = false

    init(_ configured: MQTTConfiguration.Version) {
        version = configured == .v311 ? .v311 : .v5
        isFixed = configured != .automatic
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
        default: return returnToVersion5()
        }
    }

    @discardableResult
    private mutating func returnToVersion5() -> Bool {
        guard !isFixed, !isRejected, version == .v311 else { return false }
        version = .v5
        return true
    }
}
