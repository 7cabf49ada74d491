import JacquardProtocol
import Testing

/// One way in which an attempt fails while the link is up.
struct ConnectionFailure: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let phase: SessionPhase
    let error: TagConnectionError
    let happen: @Sendable (inout SessionFixture) -> [TagSession.Action]

    private init(
        _ phase: SessionPhase, _ name: String, _ error: TagConnectionError,
        _ happen: @escaping @Sendable (inout SessionFixture) -> [TagSession.Action]
    ) {
        testDescription = "\(phase): \(name)"
        self.phase = phase
        self.error = error
        self.happen = happen
    }

    static let all = beforePairing + writeErrors + helloAnswers + startAnswers + startTimeouts

    /// The first error of these is final for a tag that was found by a scan.
    static let beforePairing: [ConnectionFailure] = [
        ConnectionFailure(.discovering, "60 s", late) { $0.after(.seconds(60)) },
        ConnectionFailure(.subscribing, "60 s", late) { $0.after(.seconds(60)) },
        failing(.discovering, .serviceDiscoveryError) { .discoveryFailed($0) },
        failing(.discovering, .characteristicDiscoveryError) { .discoveryFailed($0) },
        ConnectionFailure(
            .discovering, "no writes",
            TagConnectionError(.characteristicDiscoveryError, "the command characteristic takes no writes")
        ) { $0.on(.discovered([])) },
        failing(.subscribing, .bluetoothNotificationUpdateError) { .subscribeFailed($0) },
    ]

    private static let writeErrors = SessionPhase.starting.map { phase in
        failing(phase, .unknownBluetoothError) { .writeFailed($0, isNotPermitted: false) }
    }

    private static let versions: [(UInt32, UInt32)] = [(1, 1), (1, 2), (2, 3), (3, 3)]

    private static let helloAnswers = versions.map { minimum, maximum in
        let hello = HelloResponse(
            protocolMinimum: minimum, protocolMaximum: maximum, vendor: "Google Inc.", model: "UJT")
        let versions = minimum == maximum ? "version \(minimum)" : "versions \(minimum) to \(maximum)"
        let error = TagConnectionError(
            .malformedResponseError, "the tag supports protocol \(versions), this bridge supports version 2")
        return ConnectionFailure(.hello, "version \(minimum) to \(maximum)", error) {
            $0.confirmAndAnswer(.hello(hello))
        }
    }

    private static let names: [(phase: SessionPhase, name: String, limit: Duration)] = [
        (.hello, "hello", .seconds(2)), (.begin, "begin", .seconds(2)),
        (.tagInformation, "the request for device information", .seconds(2)),
        (.configuring, "the configuration", .seconds(8)),
    ]

    private static let startAnswers = names.flatMap { phase, name, _ in
        let status = TagConnectionError(.jacquardInitializationError, "the tag answers \(name) with ERROR_BADPARAM")
        let body = TagConnectionError(.malformedResponseError, "the tag's answer to \(name) cannot be used")
        let refusal = ConnectionFailure(phase, "status", status) { $0.confirmAndAnswer(status: .badParameter) }
        // A change of the configuration needs no body.
        if phase == .configuring { return [refusal] }
        return [
            refusal,
            ConnectionFailure(phase, "no body", body) { $0.confirmAndAnswer() },
            ConnectionFailure(phase, "another body", body) { $0.confirmAndAnswer(.haptic(HapticResponse())) },
        ]
    }

    private static let startTimeouts = names.map { phase, name, limit in
        ConnectionFailure(
            phase, "\(limit)", TagConnectionError(.jacquardInitializationError, "the tag does not answer \(name)")
        ) {
            $0.confirm() + $0.after(limit - .nanoseconds(1)) + $0.after(.nanoseconds(1))
        }
    }

    private static let late = TagConnectionError(.connectionTimeout, "no connection within 60 s")

    private static func failing(
        _ phase: SessionPhase, _ code: TagConnectionError.Code,
        _ input: @escaping @Sendable (TagConnectionError) -> SessionInput
    ) -> ConnectionFailure {
        let error = TagConnectionError(code, "so says the stack", stackName: "org.bluez.Error.Failed")
        return ConnectionFailure(phase, "\(code)", error) { $0.on(input(error)) }
    }
}
