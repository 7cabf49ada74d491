import JacquardProtocol

/// What the bridge knows of one tag.
struct TagMirror: Sendable {
    let entry: TagEntry
    let topics: TagTopics
    /// The bridge's instance name.
    let bridge: String
    /// The bridge's start.
    let boot: String

    var connection = TagConnection(state: .preparingToConnect, attempt: 0)
    /// When the connection's state began.
    var since: Moment
    var wasEverConnected = false
    /// The latest of everything noticed.
    var sighting = TagSighting()
    /// The tag itself, once it has told what it is.
    var component: Component?
    var battery: Told<BatteryStatus>?
    /// nil while the tag has not said whether gear is attached.
    var gear: Told<Component?>?
    /// The client switches gear to gestures whenever it is attached.
    var touchMode = TouchMode.gesture
    var tagLED = LEDMirror()
    var gearLED = LEDMirror()
    var counters = TagCounters()
    /// When the tag last gave a sign of life; nil before the first since the start.
    var lastSeen: Moment?

    /// Steps of a connection go out ten times a second at most.
    var progress = Throttle(every: .milliseconds(100))
    /// Statistics go out once a second at most.
    var stats = Throttle(every: .seconds(1))
    var signal = SignalThrottle()

    init(_ entry: TagEntry, topics: Topics, bridge: String, boot: String, startedAt: Moment) {
        self.entry = entry
        self.topics = topics.tag(entry.id)
        self.bridge = bridge
        self.boot = boot
        since = startedAt
    }

    /// Whether commands can reach the tag.
    var isAvailable: Bool { connection.state == .connected }

    /// The LED of the tag or of its gear.
    subscript(target: TagCommand.Target) -> LEDMirror {
        get { target == .tag ? tagLED : gearLED }
        set { if target == .tag { tagLED = newValue } else { gearLED = newValue } }
    }

    /// When something is due without an event.
    var deadline: ContinuousClock.Instant? {
        [progress.due, stats.due, tagLED.darkAt, gearLED.darkAt].compactMap(\.self).min()
    }
}
