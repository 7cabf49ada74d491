import JacquardProtocol

/// `sleep/set`: the tag drops the link after `timeout_s`, and with `wake_on_motion` comes back only when it is moved.
struct SleepSet: TagRequest {
    static let name = "sleep/set"

    private let timeoutSeconds: UInt32
    private let wakesOnMotion: Bool

    /// At once, up to a day.
    private static let timeouts: ClosedRange<UInt32> = 0...86_400

    var errand: TagErrand? {
        .perform(.disconnectTag(timeoutSeconds: timeoutSeconds, reconnectOnlyOnWakeOnMotion: wakesOnMotion))
    }

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        let arguments = try CommandArguments(emptyOrObject: payload)
        timeoutSeconds = try arguments.integer("timeout_s", Self.timeouts) ?? 0
        wakesOnMotion = try arguments.flag("wake_on_motion") ?? false
    }
}
