/// The settings of the bridge that the configuration has in the same form. `Configuration` reads them into this type.
public struct BridgeOptions: Hashable, Sendable {
    /// How long the LED stays on after a plain `on` (`defaults.led_on_s`).
    public var ledOn: Duration = .seconds(10)
    /// How long a tag stays available after its link was lost (`defaults.offline_after_s`).
    public var offlineAfter: Duration = .zero
    /// How long a gesture is kept while the broker is away (`limits.gestures_while_broker_away_s`).
    public var gestureLifetime: Duration = .seconds(5)
    /// The number of pending commands per tag; further ones are answered `busy` (`limits.commands_per_tag`).
    public var commandsPerTag = 32
    /// The chords, in the order in which those of one gesture are published (`chords`).
    public var chords: [Chord] = []
    /// The configured signals of `notify/set` (`signals`).
    public var signals: [Signal] = []
    /// Whether gestures have the user property `traceparent` (`telemetry.trace`).
    public var isTracing = false
    /// Whether to publish beats, and `offline` for other bridges that no longer publish them (`fleet.watch`).
    public var watchesFleet = false
    /// Whether tags are near (`presence`).
    public var presence = PresenceOptions()
    /// The settings of the features behind `TagFeature`.
    public var features = FeatureOptions()

    /// The defaults of the contract.
    public init() {}
}
