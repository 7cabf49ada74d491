import JacquardProtocol
import Time

/// What the bridge knows of one tag.
struct TagMirror: Sendable {
    var entry: TagEntry {
        didSet { wish.policy = entry.connect }
    }
    let topics: TagTopics
    /// The bridge's instance name.
    let bridge: String

    /// Whether it is to be connected, and whether that was asked for.
    var wish: ConnectionWish
    /// What the state file keeps of it; nil when it does not know the tag.
    var remembered: TagRecord?

    var connection: TagConnection
    /// When the connection's state began.
    var since: Moment
    /// Why the last attempt failed; nil once one has succeeded.
    var failure: TagConnectionError?
    var wasEverConnected = false
    /// The latest of everything noticed.
    var sighting = TagSighting()
    /// The tag itself, once it has told what it is.
    var component: Component?
    /// The last that is known, also from before a restart.
    var battery: Told<BatteryStatus>?
    /// What the state file has of it, or is to have.
    var keptBattery: TagRecord.Battery?
    /// Where it was connected last; nil before it was. The address in ``sighting`` may be one where it was only seen.
    var knownAddress: String?
    /// The last measurement of the signal strength for the present link, or since the last one.
    var measuredSignal: Told<Int>?
    /// Whether a command has expired because the tag could not be reached, and it has shown no sign of life since.
    var isUnreached = false
    /// nil while the tag has not said whether gear is attached.
    var gear: Told<Component?>?
    /// The gear it was last clipped into.
    var lastGear: TagRecord.Gear?
    /// The client switches gear to gestures whenever it is attached.
    var touchMode = TouchMode.gesture
    var tagLED = LEDMirror()
    var gearLED = LEDMirror()
    var counters = TagCounters()
    /// Writes them down.
    let statsPayload: StatsPayload
    /// When the tag last gave a sign of life; nil before the first since the start.
    var lastSeen: Moment?
    /// Whether no tag can be reached: Bluetooth is off, or the bridge ends.
    var isOutOfService = false
    /// What `T/availability` last said.
    var toldAvailability = false

    /// Steps of a connection go out ten times a second at most.
    var progress = Throttle(every: .milliseconds(100))
    /// Statistics go out once a second at most.
    var stats = Throttle(every: .seconds(1))
    var signal = SignalThrottle()
    /// The battery is written to the state file once in ten seconds at most.
    var keeping = Throttle(every: .seconds(10))

    init(
        _ entry: TagEntry, record: TagRecord?, topics: BridgeTopics, bridge: String, statsPayload: StatsPayload,
        startedAt: Moment
    ) {
        self.entry = entry
        self.topics = topics.tag(entry.id)
        self.bridge = bridge
        self.statsPayload = statsPayload
        wish = ConnectionWish(entry.connect, isHeld: record?.isHeld ?? false)
        remembered = record
        connection = TagConnection(state: wish.isWanted ? .preparingToConnect : .disconnected, attempt: 0)
        since = startedAt
        battery = record?.battery.map {
            let at = Moment(instant: startedAt.instant, unixMilliseconds: $0.unixMilliseconds)
            return Told(value: BatteryStatus(level: UInt32($0.level), isCharging: $0.isCharging), at: at)
        }
        keptBattery = record?.battery
        knownAddress = record?.address
        sighting.address = record?.address
        sighting.name = record?.name
        lastGear = record?.lastGear
        toldAvailability = isAvailable
    }

    /// Whether the tag is connected: what is sent now reaches it.
    var isConnected: Bool { connection.state == .connected }

    /// Whether commands can reach the tag: it is connected, or will be when a command comes.
    var isAvailable: Bool {
        guard !isOutOfService else { return false }
        return isConnected || (entry.connect == .onDemand && !wish.isHeld && failure == nil && !isUnreached)
    }

    /// The LED of the tag or of its gear.
    subscript(target: TagCommand.Target) -> LEDMirror {
        get { target == .tag ? tagLED : gearLED }
        set { if target == .tag { tagLED = newValue } else { gearLED = newValue } }
    }

    /// When something of the tag is due without an event.
    var deadline: Instant? {
        var deadline = progress.due
        deadline.lower(to: stats.due)
        deadline.lower(to: keeping.due)
        deadline.lower(to: tagLED.darkAt)
        deadline.lower(to: gearLED.darkAt)
        deadline.lower(to: wish.neededUntil)
        return deadline
    }

    /// What a restart must not forget.
    var record: TagRecord {
        TagRecord(
            id: entry.id, serial: entry.serial, address: knownAddress, name: sighting.name, isHeld: wish.isHeld,
            lastGear: lastGear, battery: keptBattery)
    }
}
