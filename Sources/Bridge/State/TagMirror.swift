import JacquardProtocol
import Time

/// The state of one tag.
struct TagMirror: Sendable {
    var entry: TagEntry {
        didSet { intent.policy = entry.connect }
    }
    let topics: TagTopics
    /// The bridge's instance name.
    let bridge: String

    /// Whether the tag should be connected, and whether the driver was instructed to connect it.
    var intent: ConnectionIntent
    /// The tag's record in the state file; nil if there is none.
    var remembered: TagRecord?

    var connection: TagConnection
    /// When the connection entered its state.
    var since: Moment
    /// Why the last attempt failed; nil after a successful one.
    var failure: TagConnectionError?
    var wasEverConnected = false
    /// The latest facts from the Bluetooth stack.
    var sighting = TagSighting()
    /// The device information of the tag, once received.
    var component: Component?
    /// The latest battery level, possibly from before a restart.
    var battery: Timestamped<BatteryStatus>?
    /// The battery level in the state file.
    var keptBattery: TagRecord.Battery?
    /// The address of the last connection; nil before the first. The address in ``sighting`` may come from an
    /// advertisement.
    var knownAddress: String?
    /// The latest signal strength of the current link, or since the last one.
    var measuredSignal: Timestamped<Int>?
    /// Whether a command expired because the tag could not be reached, and the tag has not been received since.
    var isUnreached = false
    /// nil until the tag reports whether gear is attached.
    var gear: Timestamped<Component?>?
    /// The gear that was last attached.
    var lastGear: TagRecord.Gear?
    /// The session sets gear to gesture mode whenever it is attached.
    var touchMode = TouchMode.gesture
    var tagLED = LEDMirror()
    var gearLED = LEDMirror()
    var counters = TagCounters()
    /// Encodes the counters.
    let statsPayload: StatsPayload
    /// When the tag was last received; nil if not since the start.
    var lastSeen: Moment?
    /// Whether no tag can be reached: Bluetooth is off, or the bridge is stopping.
    var isOutOfService = false
    /// The last value of `T/availability`.
    var publishedAvailability = false

    /// Connection progress is published at most ten times a second.
    var progress = Throttle(every: .milliseconds(100))
    /// Statistics are published at most once a second.
    var stats = Throttle(every: .seconds(1))
    var signal = SignalThrottle()
    /// The battery level is stored at most once in ten seconds.
    var keeping = Throttle(every: .seconds(10))

    init(
        _ entry: TagEntry, record: TagRecord?, topics: BridgeTopics, bridge: String, statsPayload: StatsPayload,
        startedAt: Moment
    ) {
        self.entry = entry
        self.topics = topics.tag(entry.id)
        self.bridge = bridge
        self.statsPayload = statsPayload
        intent = ConnectionIntent(entry.connect, isHeld: record?.isHeld ?? false)
        remembered = record
        connection = TagConnection(state: intent.isWanted ? .preparingToConnect : .disconnected, attempt: 0)
        since = startedAt
        battery = record?.battery.map {
            let at = Moment(instant: startedAt.instant, unixMilliseconds: $0.unixMilliseconds)
            return Timestamped(value: BatteryStatus(level: UInt32($0.level), isCharging: $0.isCharging), at: at)
        }
        keptBattery = record?.battery
        knownAddress = record?.address
        sighting.address = record?.address
        sighting.name = record?.name
        lastGear = record?.lastGear
        publishedAvailability = isAvailable
    }

    /// Whether the tag is connected.
    var isConnected: Bool { connection.state == .connected }

    /// Whether commands can reach the tag: it is connected, or connects when a command arrives.
    var isAvailable: Bool {
        guard !isOutOfService else { return false }
        return isConnected || (entry.connect == .onDemand && !intent.isHeld && failure == nil && !isUnreached)
    }

    /// The LED of the tag or its gear.
    subscript(target: TagCommand.Target) -> LEDMirror {
        get { target == .tag ? tagLED : gearLED }
        set { if target == .tag { tagLED = newValue } else { gearLED = newValue } }
    }

    /// When the tag's next timeout is due.
    var deadline: Instant? {
        var deadline = progress.due
        deadline.lower(to: stats.due)
        deadline.lower(to: keeping.due)
        deadline.lower(to: tagLED.darkAt)
        deadline.lower(to: gearLED.darkAt)
        deadline.lower(to: intent.neededUntil)
        return deadline
    }

    /// The record for the state file.
    var record: TagRecord {
        TagRecord(
            id: entry.id, serial: entry.serial, address: knownAddress, name: sighting.name, isHeld: intent.isHeld,
            lastGear: lastGear, battery: keptBattery)
    }
}
