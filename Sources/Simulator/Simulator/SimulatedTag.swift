public import EventLoop
import FakeBlueZ
import JacquardProtocol
public import TagFirmware
public import Time

/// One tag on the air: drives its firmware with the time and with what the radio brings.
@LoopActor
public final class SimulatedTag {
    /// Static random address, such as `F0:00:00:00:00:01`.
    public let address: String
    /// Called with what people want to see.
    public var onEvent: ((SimulatorEvent) -> Void)?
    /// Called when the advertisement changes or stops.
    public var onAdvertise: ((FirmwareAdvertisement?) -> Void)?
    /// Its firmware.
    public internal(set) var firmware: Firmware
    /// Whether the host's radio reaches it.
    public private(set) var isInRange = true
    /// The places of the adapters, and that of the proxy; empty: each receives it alike.
    var adapterPlaces: [Place] = []
    /// Its place.
    private(set) var place = Place(x: 0, y: 0)

    let options: TagOptions
    let outbox: NotificationQueue
    var link: (any PeripheralLink)?
    var rssiFlicker: Int16 = 0
    private var nextLook = Instant.now
    private lazy var timer = LoopTimer { [unowned self] in timeReached() }
    private(set) lazy var supervision = LoopTimer { [unowned self] in link?.drop(because: .timeout) }
    private(set) lazy var burst = BurstPlayer(self)

    /// A tag that has just been switched on.
    ///
    /// - Parameters:
    ///   - firmware: what makes it up.
    ///   - address: static random address.
    ///   - options: how its radio behaves.
    public init(_ firmware: Firmware, address: String, options: TagOptions = TagOptions()) {
        self.firmware = firmware
        self.address = address
        self.options = options
        outbox = NotificationQueue(isLossy: options.isLossy)
        perform([])
    }

    /// The four characters that are printed on it.
    public var serial: String { firmware.identity.serial.description }

    /// Lets a person, or a fault, change the firmware, and does what comes of it.
    ///
    /// - Throws: what the change throws; nothing is done then.
    public func act(
        _ change: (inout Firmware, Instant) throws(FirmwareError) -> [FirmwareAction]
    ) throws(FirmwareError) {
        perform(try change(&firmware, .now))
    }

    /// Performs an action of a person.
    ///
    /// - Throws: `FirmwareError` when it is impossible now.
    public func execute(_ action: TagAction) throws(FirmwareError) {
        switch action {
        case .play(let burst): try self.burst.begin(burst)
        case .range(let isIn): setInRange(isIn)
        case .carry(let x, let y): move(to: Place(x: x, y: y))
        default: try act { firmware, _ throws(FirmwareError) in try firmware.execute(action) }
        }
    }

    /// Carries the tag out of range, or back. The link breaks after a while out of range.
    public func setInRange(_ isInRange: Bool) {
        guard isInRange != self.isInRange else { return }
        self.isInRange = isInRange
        superviseLink()
        onAdvertise?(isInRange ? firmware.advertisement : nil)
    }

    /// Carries the tag to another place. A link breaks after a while out of its adapter's range.
    func move(to place: Place) {
        self.place = place
        superviseLink()
    }

    private func superviseLink() {
        guard let link, !isReachable(from: link.adapterNumber) else { return supervision.disarm() }
        if !supervision.isArmed { supervision.arm(after: options.supervisionTimeout) }
    }

    /// The strength with which an adapter receives the tag; nil out of its range.
    func strength(at adapter: Int) -> Int16? {
        guard adapterPlaces.indices.contains(adapter) else { return options.rssi }
        return adapterPlaces[adapter].strength(of: place)
    }

    func report(_ kind: SimulatorEvent.Kind) {
        onEvent?(SimulatorEvent(tag: serial, kind: kind))
    }

    // MARK: Actions of the firmware

    func perform(_ actions: [FirmwareAction]) {
        for action in actions {
            switch action {
            case .notify(let value, let channel): send(value, on: channel)
            case .dropLink: link?.drop()
            case .advertise(let advertisement): onAdvertise?(isInRange ? advertisement : nil)
            case .effect(let effect): report(.effect(effect))
            }
        }
        firmware.limitAdvertising(at: .now)
        guard let deadline = firmware.deadline else { return timer.disarm() }
        // Left as it is when the deadline moves away, as it does with every packet; it looks again when it is due.
        if !timer.isArmed || deadline < nextLook {
            nextLook = deadline
            timer.arm(at: deadline)
        }
    }

    private func timeReached() {
        perform(firmware.timeReached(at: .now))
    }

    private func send(_ value: [UInt8], on channel: TagCharacteristic) {
        guard let link, isReachable(from: link.adapterNumber) else { return }
        outbox.send(value, on: channel, over: link)
    }
}

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
