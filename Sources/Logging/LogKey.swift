/// The name of a variable in a log record. All keys are declared here, so that each variable has one name.
///
/// In the journal the key is an upper-case field with the prefix `JACQUARD_`.
public struct LogKey: Hashable, Sendable {
    /// Lower case, words joined by underscores.
    public let name: String

    private init(_ name: String) {
        self.name = name
    }

    /// The address of a Bluetooth device.
    public static let address = LogKey("address")
    /// How long something took, in milliseconds.
    public static let after = LogKey("after_ms")
    /// Which attempt this is, from 1.
    public static let attempt = LogKey("attempt")
    /// The error code of the MQTT contract.
    public static let code = LogKey("code")
    /// A bus, broker or file.
    public static let endpoint = LogKey("endpoint")
    /// The error text of a library or the kernel.
    public static let error = LogKey("error")
    /// The name of a piece of gear, or its numbers.
    public static let gear = LogKey("gear")
    /// The member of a D-Bus call or signal.
    public static let member = LogKey("member")
    /// An object on the bus.
    public static let path = LogKey("path")
    /// A file descriptor, count or other number.
    public static let count = LogKey("count")
    /// The id of a process.
    public static let process = LogKey("pid")
    /// Why something was done.
    public static let reason = LogKey("reason")
    /// The number of suppressed records since the last one of the same condition.
    public static let repeated = LogKey("repeated")
    /// Time until the next attempt, in milliseconds.
    public static let retryIn = LogKey("retry_in_ms")
    /// A state that was entered.
    public static let state = LogKey("state")
    /// The id of a tag.
    public static let tag = LogKey("tag")
    /// An MQTT topic.
    public static let topic = LogKey("topic")
    /// The name of a user.
    public static let user = LogKey("user")
    /// The version of a peer.
    public static let version = LogKey("version")
}
