import MQTT

/// The steps of a connection to the broker, in their order.
enum BrokerStage: Int, Comparable, Sendable {
    case name, reach, tls, login, version

    static func < (left: BrokerStage, right: BrokerStage) -> Bool { left.rawValue < right.rawValue }
}

extension BrokerContact {
    /// The step that did not work; nil when all have. What has no step of its own counts as a broker out of reach.
    var failedStage: BrokerStage? {
        guard case .failed(let code, _) = self else { return nil }
        let stages: [(BrokerStage, [MQTTError.Code])] = [
            (.name, [.nameNotResolved]), (.tls, MQTTError.Code.ofEncryption),
            (.login, [.badUserNameOrPassword, .notAuthorized]), (.version, [.unsupportedProtocolVersion]),
        ]
        return stages.first { $0.1.contains { $0.name == code } }?.0 ?? .reach
    }

    /// What is wrong with the encryption; nil when nothing is.
    var failureOfEncryption: MQTTError.Code? {
        guard case .failed(let name, _) = self else { return nil }
        return MQTTError.Code.ofEncryption.first { $0.name == name }
    }

    /// An encrypted connection that breaks before anything is said: the end overtakes the alert that would tell why.
    var ofEncryption: BrokerContact {
        guard case .failed(MQTTError.Code.connectionLost.name, let text) = self else { return self }
        return .failed(
            code: MQTTError.Code.tls.name,
            text: "the encrypted connection breaks: the broker may want a client certificate (\(text))")
    }

    /// What the client says of the failure; empty when there is none.
    var failureText: String {
        guard case .failed(_, let text) = self else { return "" }
        return text
    }

    /// The finding of a check that is about one step.
    ///
    /// - Parameters:
    ///   - check: the check.
    ///   - stage: its step.
    ///   - passed: what to find when the step has worked.
    ///   - failed: what to find when it has not.
    /// - Returns: one of the two, or that an earlier step has failed.
    func finding(
        _ check: Check, _ stage: BrokerStage, passed: @autoclosure () -> Finding, failed: @autoclosure () -> Finding
    ) -> Finding {
        guard let failedStage, failedStage <= stage else { return passed() }
        return failedStage == stage
            ? failed() : Finding(check, .skipped, "an earlier step of the connection to the broker has failed")
    }
}
