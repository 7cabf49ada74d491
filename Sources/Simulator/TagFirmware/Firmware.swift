public import JacquardProtocol
public import Time

/// The firmware of one tag as a machine: what reaches it goes in, what it wants done comes out.
///
/// Pure: time is an argument, and the driver calls ``timeReached(at:)`` at ``deadline``.
/// Source: protocol article; where it is silent, the answers of real tags in the SDKs' test fixtures.
public struct Firmware: Sendable {
    /// Which tag it is.
    public let identity: FirmwareIdentity
    /// Its faults.
    public var faults = FirmwareFaults()
    /// Whether it reports its battery without being asked.
    public var announcesBattery = true
    /// Whether it sleeps after ten idle minutes, and after a minute of advertising. Otherwise it advertises until it is
    /// connected.
    public var sleepsByItself = false
    /// The recording that it plays back; nil for a tag of its own.
    public var replay: Replay?
    /// Its battery.
    public internal(set) var battery = BatteryStatus(level: 87, isCharging: false)
    /// The gear that it is clipped into.
    public internal(set) var gear: AttachedGear?
    /// How it is set; keeps what clients have written.
    public internal(set) var configuration: TagConfiguration

    var life = Life.advertising
    var store: [StoreKey: ConfigElement] = [:]
    var attachments: UInt32 = 0
    var ticks: UInt32 = 0
    var touchSequence: UInt32 = 0
    var motion = MotionMemory()
    private var advertisesUntil: Instant?

    /// A tag stops advertising after so long.
    ///
    /// Source: Jacquard SDK guides, "Tags".
    public static let advertisingLimit = Duration.seconds(60)

    /// A tag that has just been switched on.
    ///
    /// - Parameters:
    ///   - identity: which one.
    ///   - gear: what it is clipped into, nil for nothing.
    public init(_ identity: FirmwareIdentity, gear: SimulatedGear? = nil) {
        self.identity = identity
        configuration = .factory(name: identity.factoryName)
        if let gear { clip(into: gear) }
    }

    /// Its present name.
    public var name: String { configuration.ble?.customAdvertisedName ?? identity.factoryName }

    /// Its advertisement; nil while it is connected or asleep.
    public var advertisement: FirmwareAdvertisement? {
        guard case .advertising = life else { return nil }
        return FirmwareAdvertisement(name: name, manufacturerData: identity.serial.manufacturerData)
    }

    /// Whether a client is connected.
    public var isConnected: Bool { link != nil }

    /// Whether the tag sleeps, until it is moved or its button is pressed.
    public var isAsleep: Bool {
        if case .asleep = life { true } else { false }
    }

    // MARK: Radio events

    /// A client has connected.
    ///
    /// - Parameters:
    ///   - mtu: the largest ATT packet, in bytes; fragments never exceed 61 bytes, whatever it is.
    ///   - now: the time.
    /// - Returns: what is to be done.
    public mutating func connected(mtu: Int = 247, at now: Instant) -> [FirmwareAction] {
        life = .linked(FirmwareLink(mtu: mtu, at: now))
        if let steps = replay?.linkUp() { plan(steps, at: now) }
        return [.advertise(nil)]
    }

    /// Handles the end of the link, whichever side ended it.
    public mutating func disconnected() -> [FirmwareAction] {
        guard let link else { return [] }
        motion.transfer = nil
        if motion.collection?.next != nil { motion.collection = nil }
        life = link.sleepsAfterwards ? .asleep : .advertising
        return link.sleepsAfterwards ? [] : [.advertise(advertisement)]
    }

    /// The client switches notifications of a characteristic on, or off.
    public mutating func subscribed(_ channel: TagCharacteristic, isOn: Bool = true) {
        if isOn { link?.subscriptions.insert(channel) } else { link?.subscriptions.remove(channel) }
    }

    /// The client writes a value.
    ///
    /// Of raw data, only acknowledgements of motion data mean something to it.
    public mutating func write(
        _ value: [UInt8], on channel: TagCharacteristic, at now: Instant
    ) -> [FirmwareAction] {
        link?.lastActivity = now
        if channel == .rawData { return rawWritten(value, at: now) }
        guard channel == .command, case .packet(let packet) = link?.reassembler.receive(value),
            let (id, request) = try? Request.decode(packet)
        else {
            return []
        }
        return replay == nil ? answer(request, id: id, at: now) : replay(request, id: id, at: now)
    }

    // MARK: Time

    /// When to call ``timeReached(at:)``; nil while there is nothing to wait for.
    public var deadline: Instant? {
        guard var deadline = link?.deadline else { return advertisesUntil }
        if let due = motion.deadline { deadline = min(deadline, due) }
        return replay?.deadline.map { min($0, deadline) } ?? deadline
    }

    /// Limits the time of advertising, once it has begun.
    public mutating func limitAdvertising(at now: Instant) {
        guard sleepsByItself, case .advertising = life else { return advertisesUntil = nil }
        advertisesUntil = advertisesUntil ?? now + Self.advertisingLimit
    }

    /// Does what has become due.
    public mutating func timeReached(at now: Instant) -> [FirmwareAction] {
        if let until = advertisesUntil, until <= now, case .advertising = life {
            advertisesUntil = nil
            return sleep()
        }
        if sleepsByItself, let link, now >= link.lastActivity + FirmwareLink.idleLimit {
            self.link?.sleepsAfterwards = true
        }
        if link != nil, let steps = replay?.withoutMissing(at: now) {
            for (step, time) in steps { link?.plan(step.output.actions(id: 0), at: time) }
        }
        guard var actions = link?.takeDue(at: now) else { return [] }
        if motion.deadline != nil { actions += motionTimeReached(at: now) }
        return actions.filter { action in
            guard case .notify(_, on: let channel) = action else { return true }
            return link?.subscriptions.contains(channel) == true
        }
    }
}

extension Firmware {
    /// The activity of a tag.
    enum Life: Sendable {
        case advertising
        case linked(FirmwareLink)
        case asleep
    }

    /// The link, while there is one.
    var link: FirmwareLink? {
        get { if case .linked(let link) = life { link } else { nil } }
        set { if case .linked = life, let newValue { life = .linked(newValue) } }
    }
}
