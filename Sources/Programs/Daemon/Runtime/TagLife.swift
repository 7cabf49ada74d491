import Bridge
import JacquardProtocol
import Logging
import Time

/// The log of the life of the tags: connected, lost, retrying, gear attached and detached.
///
/// Takes the events of the tags and returns the records to write. Changes are logged each time; attempts are left to the
/// ``Logging/CalmSink``, so that a tag that is away does not flood the log.
struct TagLife {
    /// A record about one tag.
    struct Record {
        let message: StaticString
        /// Whether the record is a change of state.
        var isChange = false
        var variables: [Logger.Metadata] = []
    }

    private struct Tag {
        /// The last reported connection.
        var connection = TagConnection(state: .disconnected, attempt: 0)
        /// When the connection was requested; nil while the tag is connected or should not be.
        var since: Instant?
        /// The number of the last logged attempt; nil after a loss.
        var attempt: Int?
        /// The last logged gear.
        var gear: String?
    }

    private var tags: [TagHandle: Tag] = [:]

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - tag: the tag.
    ///   - now: the current time.
    /// - Returns: the record to log, if any.
    mutating func take(_ event: TagEvent, of tag: TagHandle, at now: Instant) -> Record? {
        switch event {
        case .connection(let connection): Self.take(connection, &tags[tag, default: Tag()], now)
        case .gear(let gear): Self.take(gear, &tags[tag, default: Tag()])
        default: nil
        }
    }

    /// Removes a tag that the bridge has forgotten.
    mutating func remove(_ tag: TagHandle) {
        tags[tag] = nil
    }

    /// Not of the instance, whose table would be copied.
    private static func take(_ connection: TagConnection, _ tag: inout Tag, _ now: Instant) -> Record? {
        let former = tag.connection
        let wasConnected = former.state == .connected
        tag.connection = connection
        switch connection.state {
        case .connected:
            guard !wasConnected else { return nil }
            defer { tag.since = nil }
            let variables: [Logger.Metadata] = [(.attempt, "\(connection.attempt)")]
            guard let since = tag.since else {
                return Record(message: "connected", isChange: true, variables: variables)
            }
            let wait: Logger.Metadata = (.after, "\((now - since).milliseconds)")
            return Record(message: "connected", isChange: true, variables: [wait] + variables)
        case .preparingToConnect:
            if tag.since == nil { tag.since = now }
            guard let error = connection.error else { return nil }
            let variables = error.variables + connection.retryVariables(at: now)
            guard wasConnected else {
                // The session reports the error of the last attempt again when the next one begins.
                let isFailure = connection.retryAt != nil || connection.isNextAttempt(after: former)
                return isFailure ? Record(message: "connection failed", variables: variables) : nil
            }
            tag.attempt = nil
            return Record(message: "connection lost", isChange: true, variables: variables)
        case .connecting, .initializing, .configuring:
            guard connection.attempt > 1, connection.attempt != tag.attempt else { return nil }
            tag.attempt = connection.attempt
            return Record(message: "retrying", variables: [(.attempt, "\(connection.attempt)")])
        case .disconnected:
            tag.since = nil
            guard wasConnected || connection.isRefused else { return nil }
            return Record(message: "disconnected", isChange: true, variables: connection.error?.variables ?? [])
        }
    }

    /// The session reports gear again when more is known about it, and on each new link. Only changes of the name are
    /// logged.
    private static func take(_ gear: Component?, _ tag: inout Tag) -> Record? {
        let name = gear?.logName
        guard name != tag.gear else { return nil }
        let former = tag.gear ?? ""
        tag.gear = name
        return Record(message: name == nil ? "gear detached" : "gear attached", variables: [(.gear, name ?? former)])
    }
}

extension Component {
    /// The names from the catalogue, or the numbers of unknown gear.
    fileprivate var logName: String {
        [vendor, product].map { $0.name.isEmpty ? "\($0.id)" : $0.name }.joined(separator: " ")
    }
}

extension TagConnectionError {
    fileprivate var variables: [Logger.Metadata] {
        [(.code, code.word), (.error, text)] + (stackName.map { [(.reason, $0)] } ?? [])
    }
}

extension TagConnection {
    /// Whether the connection has ended with an error of this tag. Bluetooth being off is logged once, not for each tag.
    fileprivate var isRefused: Bool { error.map { $0.code != .bluetoothPowerOff } ?? false }

    /// Whether an attempt without a link has failed and the next one has begun, without a pause.
    fileprivate func isNextAttempt(after former: TagConnection) -> Bool {
        former.state == .preparingToConnect && attempt > former.attempt
    }

    fileprivate func retryVariables(at now: Instant) -> [Logger.Metadata] {
        guard let retryAt else { return [(.attempt, "\(attempt)")] }
        return [(.attempt, "\(attempt)"), (.retryIn, "\(max(0, (retryAt - now).milliseconds))")]
    }
}

extension TagCommand {
    /// The command without its values, for the log.
    var word: String {
        switch self {
        case .playLEDPattern: "led"
        case .playHaptic: "haptic"
        case .setTouchMode: "touch_mode"
        case .batteryStatus: "battery"
        case .deviceInformation: "info"
        case .listModules, .changeModule: "modules"
        case .motion: "imu"
        case .sendRaw: "raw"
        case .rename: "name"
        case .readName: "read_name"
        case .configGet: "config_get"
        case .configSet: "config_set"
        case .disconnectTag: "sleep"
        }
    }
}
