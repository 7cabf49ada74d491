import JacquardProtocol

/// `sleep/set`: makes the tag disconnect after `timeout_s`. With `wake_on_motion` it returns only after it is moved.
struct SleepSet: TagRequest {
    static let name = "sleep/set"

    private let timeoutSeconds: UInt32
    private let wakesOnMotion: Bool

    /// 0 s (immediately) to one day.
    private static let timeouts: ClosedRange<UInt32> = 0...86_400

    var operation: TagOperation? {
        .perform(.disconnectTag(timeoutSeconds: timeoutSeconds, reconnectOnlyOnWakeOnMotion: wakesOnMotion))
    }

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        let arguments = try CommandArguments(emptyOrObject: payload)
        timeoutSeconds = try arguments.integer("timeout_s", Self.timeouts) ?? 0
        wakesOnMotion = try arguments.flag("wake_on_motion") ?? false
    }
}
