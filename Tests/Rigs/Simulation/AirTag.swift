import Bluetooth
import Bridge
import EventLoop
import JacquardProtocol
import TagFirmware
import Time

/// A tag on the air: its firmware, its place and its link.
@LoopActor
final class AirTag {
    private let world: World
    let address: BluetoothAddress
    let serial: String
    let number: Int
    private(set) var firmware: Firmware
    /// Metres on a line, as the places of hosts.
    var place: Double {
        didSet {
            if link != nil { history.linkMoved = world.now }
            world.tagChanged(self)
        }
    }
    /// Whether it has power.
    private(set) var isOn = true
    private(set) var link: RadioLink?
    /// When something has happened last that its facts follow.
    var lastDisturbance = Instant(sinceBoot: .zero)
    /// When its facts have last been compared with the truth; nothing has changed since if this is after
    /// ``lastDisturbance``.
    var checkedAt = Instant(sinceBoot: .zero)
    /// Its latest events.
    var history = TagHistory()
    /// When its link has begun.
    private(set) var linkedAt = Instant(sinceBoot: .zero)
    /// When a bridge has last published that it does not know the effect of a new name.
    var nameLostAt = Instant(sinceBoot: .zero)
    /// Until when bridges may wait for its responses.
    var troubledUntil = Instant(sinceBoot: .zero)
    /// Until when its responses may lack what was requested.
    var garbledUntil = Instant(sinceBoot: .zero)
    /// The faults of its answers after the present one, each once.
    private var plannedFaults: ArraySlice<FirmwareFaults.AnswerFault> = []
    /// When its LED was switched on last, and when it goes off; nil while that is unknown.
    private(set) var light: (since: Instant, off: Instant)?
    /// The hosts that it has a bond with.
    var bonds: Set<Int> = []
    /// Whether it has lost a bond, and was not paired again since.
    var needsPairing = false
    /// The earliest time of the scheduled call of ``timeReached()``.
    private var nextLook: Instant?
    /// Counts gestures, for the trace.
    private var gestures = 0

    init(_ world: World, number: Int, address: BluetoothAddress, serial: PairingSerial, place: Double) {
        self.world = world
        self.address = address
        self.serial = serial.description
        self.number = number
        self.place = place
        firmware = Firmware(
            FirmwareIdentity(serial: serial), gear: number % 4 == 3 ? nil : SimulatedGear.all[number % 3])
    }

    /// Whether a host can receive it: distance and power. A linked or sleeping tag does not advertise.
    func isReceivable(by host: HostRadio) -> Bool { isOn && abs(place - host.place) < HostRadio.range }

    /// Whether a host can receive it, whichever it is linked to.
    func isReceivable(everywhere hosts: [BridgeHost]) -> Bool { hosts.allSatisfy { isReceivable(by: $0.radio) } }

    /// Whether it advertises.
    var isAdvertising: Bool { isOn && firmware.advertisement != nil }

    /// The advertisement that a host receives.
    func advertisement(heardBy host: HostRadio) -> Advertisement? {
        guard isOn, let advertisement = firmware.advertisement else { return nil }
        let loss = Int(abs(place - host.place) * 3) + Int(world.random.next() % 4)
        return Advertisement(
            name: advertisement.name,
            manufacturerData: [FirmwareAdvertisement.company: advertisement.manufacturerData], rssi: -45 - loss,
            isPaired: host.bonds.contains(address))
    }

    // MARK: Radio

    func connected(_ link: RadioLink, mtu: Int) {
        self.link = link
        linkedAt = world.now
        perform(firmware.connected(mtu: mtu, at: world.now), mark: nil)
    }

    /// The link has gone.
    func unlinked() {
        link = nil
        perform(firmware.disconnected(), mark: nil)
        world.tagChanged(self)
    }

    func subscribed(_ channel: TagCharacteristic) {
        firmware.subscribed(channel)
    }

    func write(_ value: [UInt8], on channel: TagCharacteristic) {
        history.requested = world.now
        perform(firmware.write(value, on: channel, at: world.now), mark: nil)
        nextFault()
    }

    /// Plans faults of its next answers, one for each.
    func plan(_ faults: [FirmwareFaults.AnswerFault]) {
        plannedFaults = faults[...]
        nextFault()
    }

    private func nextFault() {
        guard firmware.faults.answer == nil, let fault = plannedFaults.popFirst() else { return }
        _ = try? firmware.execute(.fault(fault, isOnce: true))
    }

    // MARK: People

    /// Makes a gesture; does nothing if the tag reports none.
    func make(_ gesture: Gesture) {
        guard isOn, let actions = try? firmware.gesture(gesture, at: world.now) else { return }
        gestures += 1
        world.trace("\(serial) gesture \(gesture.word) \(gestures)")
        perform(actions, mark: GestureMark(tag: serial, gesture: gesture))
    }

    /// Performs an action of a person, or of a fault.
    func execute(_ action: TagAction) {
        guard isOn, let actions = try? firmware.execute(action) else { return }
        switch action {
        case .attach, .detach: history.gearChanged = world.now
        default: break
        }
        world.trace("\(serial) \(action)")
        perform(actions, mark: nil)
        world.tagChanged(self)
    }

    /// Ends the fault of its answers, also while it has no power.
    func endFault() {
        plannedFaults = []
        _ = try? firmware.execute(.fault(nil, isOnce: false))
        world.tagChanged(self)
    }

    /// Switches the tag off, or on again: it has forgotten the link, and not what it stores.
    func setPower(_ isOn: Bool) {
        guard isOn != self.isOn else { return }
        world.trace("\(serial) power \(isOn)")
        self.isOn = isOn
        if !isOn {
            light = nil
            if link != nil { history.linkEnded = world.now }
            link?.tagIsGone()
            _ = firmware.disconnected()
            link = nil
        }
        world.tagChanged(self)
    }

    // MARK: Firmware

    private func perform(_ actions: [FirmwareAction], mark: GestureMark?) {
        let last = actions.lastIndex { if case .notify = $0 { true } else { false } }
        for (index, action) in actions.enumerated() {
            switch action {
            case .notify(let value, let channel): link?.notify(value, on: channel, mark: index == last ? mark : nil)
            case .dropLink: link?.drop(after: world.draw(.milliseconds(5), .milliseconds(60)))
            case .advertise: world.tagChanged(self)
            case .effect(let effect):
                if case .led(let pattern, on: .tag) = effect {
                    let duration = Duration.milliseconds(pattern.durationMilliseconds)
                    light = (world.now, pattern.haltsAll ? world.now : world.now + duration)
                }
                Demand.Effect(effect).map { history.effects[$0] = world.now }
            }
        }
        lookAgain()
    }

    private func lookAgain() {
        // A request to drop the link stays due until the link is down.
        guard let deadline = firmware.deadline.map({ max($0, world.now + .milliseconds(1)) }),
            nextLook.map({ deadline < $0 || $0 <= world.now }) ?? true
        else { return }
        nextLook = deadline
        world.at(deadline) { [self] in
            guard nextLook == deadline else { return }
            nextLook = nil
            guard isOn else { return }
            perform(firmware.timeReached(at: world.now), mark: nil)
        }
    }
}

/// A gesture on its way to a bridge.
struct GestureMark {
    let tag: String
    let gesture: Gesture
}

/// A link between a host and a tag.
@LoopActor
final class RadioLink {
    private let world: World
    let host: HostRadio
    let tag: AirTag
    private(set) var isUp = true
    /// Whether the tag is out of range: packets wait until it is back, or until the supervision timeout.
    private var isSilent = false
    private var waiting: [@LoopActor () -> Void] = []
    private var lastArrival = Instant(sinceBoot: .zero)

    init(_ world: World, _ host: HostRadio, _ tag: AirTag) {
        self.world = world
        self.host = host
        self.tag = tag
    }

    func notify(_ value: [UInt8], on channel: TagCharacteristic, mark: GestureMark?) {
        guard isUp else { return }
        exchange { [self] in
            for client in host.clients { client.notified(value, on: channel, over: self, mark: mark) }
        }
    }

    /// Calls a function when a packet has arrived. Packets keep their order.
    func exchange(_ body: @escaping @LoopActor () -> Void) {
        guard isUp else { return }
        guard !isSilent, waiting.isEmpty else { return waiting.append(body) }
        lastArrival = max(lastArrival + .nanoseconds(1), world.now + world.draw(.milliseconds(8), .milliseconds(45)))
        world.at(lastArrival) { [self] in if isUp { body() } }
    }

    /// The place of the tag has changed.
    func placeChanged() {
        let isSilentNow = !tag.isReceivable(by: host)
        guard isUp, isSilentNow != isSilent else { return }
        isSilent = isSilentNow
        guard isSilent else {
            let packets = waiting
            waiting = []
            packets.forEach { exchange($0) }
            return
        }
        world.after(world.draw(.milliseconds(1_800), .milliseconds(2_200))) { [self] in if isSilent { end(nil) } }
    }

    /// The tag has lost its power: the host notices it at the supervision timeout.
    func tagIsGone() {
        guard isUp else { return }
        isSilent = true
        world.after(world.draw(.milliseconds(1_800), .milliseconds(2_200))) { [self] in end(nil) }
    }

    /// Drops the link after a time, by either side.
    func drop(after wait: Duration) {
        world.after(wait) { [self] in end(nil) }
    }

    /// The link has ended.
    ///
    /// - Parameter error: the cause that the client is told; nil for a lost link.
    func end(_ error: BluetoothError?) {
        guard isUp else { return }
        isUp = false
        waiting = []
        world.trace("link down host=\(host.number) \(tag.serial)")
        tag.history.linkEnded = world.now
        world.disturbed(tag)
        if tag.link === self { tag.unlinked() }
        host.ended(self, error)
    }
}
