/// Which version of the protocol to try: MQTT 5 until the broker has shown that it does not speak it.
///
/// Brokers show it in two ways. One answers with a reason code, which is final for this process. An old one just closes
/// the connection; since a broker that is starting does the same, it takes two in a row, and the same again leads back.
struct ProtocolChoice {
    private(set) var version: MQTTVersion
    private let isFixed: Bool
    private var isSettled = false
    private var closings = 0

    init(_ wanted: MQTTConfiguration.Version) {
        version = wanted == .v311 ? .v311 : .v5
        isFixed = wanted != .automatic
    }

    /// The broker has accepted the version.
    mutating func accepted() {
        isSettled = true
        closings = 0
    }

    /// An attempt has failed.
    ///
    /// - Returns: whether the version has changed.
    mutating func failed(_ code: MQTTError.Code) -> Bool {
        guard !isFixed else { return false }
        switch code {
        case .unsupportedProtocolVersion where version == .v5:
            isSettled = true
            version = .v311
            return true
        // `protocol_error` is how an answer in the other version's form reads.
        case .connectionLost where !isSettled, .protocolError where !isSettled:
            closings += 1
            guard closings == 2 else { return false }
            closings = 0
            version = version == .v5 ? .v311 : .v5
            return true
        default:
            closings = 0
            return false
        }
    }
}
