/// How a simulated tag's radio behaves.
public struct TagOptions: Hashable, Sendable {
    /// Whether `command` can only be written without response, as with firmware before 1.43.
    public var allowsWriteWithoutResponseOnly = false
    /// Whether it lacks the service that makes it a tag.
    public var hasNoService = false
    /// Whether the tag requires a bond: it requests pairing on every connection, and rejects writes and subscriptions
    /// without one.
    public var wantsPairing = false
    /// Whether it refuses every access over a link that is not encrypted, without asking for a pairing.
    public var demandsEncryption = false
    /// Whether the value of `response` can be read, which says nothing.
    public var allowsReading = false
    /// Whether values that find the client's socket full are dropped, as bluetoothd does; else they wait.
    public var isLossy = false
    /// How strong it is heard, in dBm.
    public var rssi: Int16 = -50
    /// How long a host takes to notice that the tag is out of range.
    public var supervisionTimeout = Duration.seconds(2)

    /// A tag near by.
    public init() {}
}
