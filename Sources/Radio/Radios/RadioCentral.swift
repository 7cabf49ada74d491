public import Bluetooth
public import EventLoop
public import Logging
public import Time

/// A central of several radios, each of which is a central of its own. ``RadioChoice`` decides which one connects a device.
///
/// One central in front of several radios: a device has at most one link, and its requests go to the radio with that link.
@LoopActor
public final class RadioCentral: Central {
    /// A radio with its name.
    public struct Member {
        /// The name in topics and logs.
        public let name: String
        /// The central.
        public let unit: any RadioUnit

        /// Names a central.
        public init(name: String, unit: any RadioUnit) {
            self.name = name
            self.unit = unit
        }
    }

    /// A change that only a central of several radios has.
    public enum Change: Hashable, Sendable {
        /// A device is about to be reported as connected, by this radio.
        case linked(BluetoothAddress, radio: String, adapter: String?)
        /// Only these radios receive the device, and none of them has a bond with it. Empty: that is over.
        case noBond(BluetoothAddress, receivedBy: [String])
        /// A link that was reported as lost has ended because its radio was lost.
        case lost(BluetoothAddress, BluetoothError)
        /// A radio has bonds with these devices, and no others. `changed` are those that are new or gone.
        case bonds(radio: String, Set<BluetoothAddress>, changed: Set<BluetoothAddress>)
    }

    /// How one radio receives a device.
    public struct Reception: Hashable, Sendable {
        /// The name of the radio.
        public var radio: String
        /// The smoothed signal strength in dBm; nil if the radio has not received the device.
        public var rssi: Int?
        /// How long ago the radio received the device.
        public var age: Duration?
        /// Whether the radio has a bond that the device accepts, as far as known.
        public var isBonded: Bool
    }

    /// The event handler.
    public var onEvent: ((CentralEvent) -> Void)?
    /// Called with changes that `onEvent` cannot express.
    public var onChange: (@LoopActor (Change) -> Void)?
    /// Called with each request before it is performed; nil unless the traffic is recorded.
    public var onRequest: ((CentralRequest) -> Void)?

    let members: [Member]
    var choice: RadioChoice
    let log: Logger
    /// The radio with the link, by device. Looked up for every value.
    private var owners: [BluetoothAddress: Int] = [:]
    /// Whether any radio can be used.
    public private(set) var state = CentralState.unknown
    private var states: [CentralState]
    private var adapters: [[Adapter]]
    private var bonds: [Set<BluetoothAddress>]
    private var publishedBonds: Set<BluetoothAddress> = []
    private var scanning: [Bool]
    private var isScanning = false
    private var reportedAdapters: [Adapter] = []
    private var forgetting: [BluetoothAddress: Forgetting] = [:]
    /// The links that were lost recently.
    private var ends: [End] = []
    private var isStopped = false
    private let now: @LoopActor () -> Instant
    /// When ``timer`` is to fire.
    private var due: Instant?
    private lazy var timer = LoopTimer { [unowned self] in advance() }
    private lazy var later = EndOfTurnSource { [unowned self] in advance() }

    private struct Forgetting {
        var pending: Set<Int>
        var error: BluetoothError?
    }

    /// The end of a link or of an attempt, for which the radio may turn out to be the cause.
    private struct End {
        let address: BluetoothAddress
        let radio: Int
        let at: Instant
        let error: BluetoothError
    }

    /// How long after its links a radio may be reported as lost. bluetoothd reports the links of an adapter that was unplugged before
    /// the adapter.
    private static let lateLoss = Duration.seconds(2)

    /// Creates a central. It does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - members: the radios; at least one.
    ///   - log: the logger.
    ///   - now: the clock.
    public init(_ members: [Member], log: Logger, now: @escaping @LoopActor () -> Instant = { .now }) {
        self.members = members
        self.log = log
        self.now = now
        choice = RadioChoice(radios: members.count)
        states = members.map { _ in .unknown }
        adapters = members.map { _ in [] }
        bonds = members.map { _ in [] }
        scanning = members.map { _ in false }
        for (index, member) in members.enumerated() {
            member.unit.onEvent = { [weak self] in self?.handle($0, from: index) }
        }
    }

    // MARK: The unit

    /// nil: each radio has an adapter of its own.
    public var adapterID: String? { nil }

    /// nil: each radio has an adapter in the list, with its own fault.
    public var fault: AdapterFault? { nil }

    /// The adapter that an earlier process has switched off; each radio compares it with its own.
    public var switchedOff: BluetoothAddress? {
        get { members.lazy.compactMap(\.unit.switchedOff).first }
        set { for member in members { member.unit.switchedOff = newValue } }
    }

    /// Called before an adapter is switched off to reset it, and with nil when it is on again.
    public var onReset: (@LoopActor (BluetoothAddress?) async -> Void)? {
        get { members.first?.unit.onReset }
        set { for member in members { member.unit.onReset = newValue } }
    }

    /// The devices whose links an earlier process has left. Each radio looks for them at its own adapter.
    public var formerLinks: Set<BluetoothAddress> {
        get { members.reduce(into: []) { $0.formUnion($1.unit.formerLinks) } }
        set { for member in members { member.unit.formerLinks = newValue } }
    }

    /// The devices whose links may still exist after ``stop(within:)``.
    public var remainingLinks: Set<BluetoothAddress> {
        members.reduce(into: []) { $0.formUnion($1.unit.remainingLinks) }
    }

    /// Starts all radios. A radio that hangs does not delay another one.
    public func start() async {
        for member in members { EventLoop.shared.begin { await member.unit.start() } }
    }

    /// Delivers the values that were received and not delivered yet.
    public func deliverReceived() {
        for member in members { member.unit.deliverReceived() }
    }

    /// Stops all radios at the same time.
    public func stop(within limit: Duration) async {
        isStopped = true
        onEvent = nil
        onChange = nil
        timer.disarm()
        await withCheckedContinuation { continuation in
            var count = members.count
            for member in members {
                EventLoop.shared.begin {
                    await member.unit.stop(within: limit)
                    count -= 1
                    if count == 0 { continuation.resume() }
                }
            }
        }
    }

    // MARK: Facts

    /// The names of the radios, in the order of the configuration.
    public var names: [String] { members.map(\.name) }

    /// The number of devices linked, of free links if known, and of bonds, by the name of the radio.
    public func load(of radio: String) -> (state: CentralState, links: Int, free: Int?, bonds: Int)? {
        members.firstIndex { $0.name == radio }.map {
            (states[$0], choice.linkCount(of: $0), choice.freeLinks(of: $0), choice.bondCount(of: $0))
        }
    }

    /// The address of the adapter of a radio; nil if it is unknown.
    public func controller(of radio: String) -> BluetoothAddress? {
        members.firstIndex { $0.name == radio }.flatMap { adapter(of: $0)?.address }
    }

    /// The radio that is connected with a device, or else receives it best, with its adapter; nil if there is none.
    public func radio(of address: BluetoothAddress) -> (name: String, adapter: String?)? {
        guard let index = choice.linkedRadio(of: address) ?? choice.bestReceiver(of: address, at: now()) else {
            return nil
        }
        return (members[index].name, members[index].unit.adapterID)
    }

    /// How each radio receives a device; radios that have neither received it nor a bond are left out.
    public func receptions(of address: BluetoothAddress) -> [Reception] {
        let now = self.now()
        return choice.receptions(of: address).map { reception in
            Reception(
                radio: members[reception.radio].name, rssi: reception.rssi, age: reception.last.map { now - $0 },
                isBonded: reception.isBonded)
        }
    }

    /// A device needs a bond, even if no radio reports one: it may be with a radio that is away.
    public func requireBond(with address: BluetoothAddress) {
        choice.requireBond(with: address)
    }

    // MARK: Requests

    /// Performs a request, or starts it.
    public func perform(_ request: CentralRequest) {
        guard !isStopped else { return }
        onRequest?(request)
        switch request {
        case .write(_, to: _, of: let address, _):
            guard let unit = unit(of: address) else { return reportLater(.writeFailed(address, .noLink)) }
            unit.perform(request)
        case .scan, .watch, .acceptPairing: for member in members { member.unit.perform(request) }
        case .connect(let address):
            choice.connect(address, at: now())
            later.request()
        case .disconnect(let address):
            choice.disconnect(address, at: now())
            later.request()
        case .pair(let address): pair(address, request)
        case .beginPairing(let address, let name):
            // A radio would use the bond that the device does not accept any more, and fail again.
            for radio in choice.refusedBonds(of: address).sorted() where name == nil || members[radio].name == name {
                members[radio].unit.perform(.forget(address))
            }
            choice.beginPairing(address, with: name.flatMap { name in members.firstIndex { $0.name == name } })
            later.request()
        case .checkBond(let address, let name):
            guard let radio = members.firstIndex(where: { $0.name == name }) else { return }
            choice.beginCheck(address, with: radio)
            later.request()
        case .endPairing(let address):
            choice.endPairing(address, bondedBy: nil)
            later.request()
        case .forget(let address): forget(address)
        case .discover(_, characteristics: _, of: let address):
            guard let unit = unit(of: address) else { return reportLater(.discoveryFailed(address, .noLink)) }
            unit.perform(request)
        case .subscribe(let characteristic, of: let address):
            guard let unit = unit(of: address) else {
                return reportLater(.subscribeFailed(address, characteristic, .noLink))
            }
            unit.perform(request)
        }
    }

    private func unit(of address: BluetoothAddress) -> (any RadioUnit)? { owners[address].map { members[$0].unit } }

    private func reportLater(_ event: CentralEvent) {
        EventLoop.shared.atEndOfTurn { [weak self] in self?.onEvent?(event) }
    }

    /// Pairs with the radio that has the link. If another one is to be paired, the link is dropped, and that one makes the next.
    private func pair(_ address: BluetoothAddress, _ request: CentralRequest) {
        guard let unit = unit(of: address) else { return reportLater(.pairFailed(address, .noLink)) }
        if choice.leaveForPairing(address) { return later.request() }
        unit.perform(request)
    }

    /// Forgets a device at each radio that can be used. A radio that is off and has a bond would keep it: then none forgets it.
    private func forget(_ address: BluetoothAddress) {
        if let radio = members.indices.first(where: { states[$0] != .poweredOn && bonds[$0].contains(address) }) {
            let text = "Radio \(members[radio].name) cannot be used, and has a bond with the tag"
            return reportLater(.forgotten(address, BluetoothError(.poweredOff, text: text)))
        }
        let radios = members.indices.filter { states[$0] == .poweredOn }
        guard !radios.isEmpty else {
            let error = BluetoothError(.poweredOff, text: "there is no radio to forget the device")
            return reportLater(.forgotten(address, error))
        }
        forgetting[address] = Forgetting(pending: Set(radios))
        for radio in radios { members[radio].unit.perform(.forget(address)) }
    }

    // MARK: Steps

    /// Performs what the choice has decided.
    private func advance() {
        guard !isStopped else { return }
        let now = self.now()
        perform(choice.steps(at: now))
        due = choice.deadline(at: now)
        timer.arm(at: due)
    }

    /// Performs what the choice has decided because a device was received.
    private func advance(_ address: BluetoothAddress) {
        guard !isStopped else { return }
        perform(choice.steps(for: address, at: now()))
        due.lower(to: choice.deadline(of: address, at: now()))
        timer.arm(at: due)
    }

    private func perform(_ steps: [RadioChoice.Step]) {
        for step in steps {
            switch step {
            case .connect(let address, let radio):
                log.debug("radio chosen", [(.address, address.description), (.radio, members[radio].name)])
                members[radio].unit.perform(.connect(address))
            case .release(let address, let radio): members[radio].unit.perform(.disconnect(address))
            case .end(let address, let error): onEvent?(.disconnected(address, error))
            case .noBond(let address, let radios):
                onChange?(.noBond(address, receivedBy: radios.map { members[$0].name }))
            }
        }
    }

    // MARK: Events of a radio

    private func handle(_ event: CentralEvent, from radio: Int) {
        switch event {
        case .notified(let address, _, _), .written(let address), .characteristicsDiscovered(let address, _),
            .mtuChanged(let address, _), .pairFailed(let address, _):
            report(event, of: address, radio)
        case .subscribed(let address, _):
            if owners[address] == radio, choice.accepted(address, by: radio) { reportBond(with: address, radio) }
            report(event, of: address, radio)
        case .writeFailed(let address, let error):
            report(.writeFailed(address, refused(address, radio, error)), of: address, radio)
        case .discoveryFailed(let address, let error):
            report(.discoveryFailed(address, refused(address, radio, error)), of: address, radio)
        case .subscribeFailed(let address, let characteristic, let error):
            report(.subscribeFailed(address, characteristic, refused(address, radio, error)), of: address, radio)
        case .connected(let address): connected(address, radio)
        case .disconnected(let address, let error): disconnected(address, radio, error)
        case .discovered(let address, let advertisement): discovered(address, advertisement, radio)
        case .remembered(let address, let advertisement):
            var advertisement = advertisement
            advertisement.isPaired = publishedBonds.contains(address)
            onEvent?(.remembered(address, advertisement))
        case .paired(let address):
            guard owners[address] == radio else { return }
            choice.endPairing(address, bondedBy: radio)
            // Its bond may be away with its radio.
            choice.requireBond(with: address)
            onEvent?(event)
        case .bonds(let addresses): bondsChanged(to: addresses, radio)
        case .forgotten(let address, let error): forgotten(address, error, radio)
        case .stateChanged(let state): stateChanged(to: state, radio)
        case .scanning(let isScanning):
            scanning[radio] = isScanning
            reportScanning()
        case .adaptersChanged(let list): adaptersChanged(to: list, radio)
        case .faultChanged: reportAdapters()
        }
    }

    /// Passes an event of a radio on, if that radio has the link.
    private func report(_ event: CentralEvent, of address: BluetoothAddress, _ radio: Int) {
        if owners[address] == radio { onEvent?(event) }
    }

    /// The error of an access, without a refused bond if another radio has one.
    private func refused(_ address: BluetoothAddress, _ radio: Int, _ error: BluetoothError) -> BluetoothError {
        guard error.code == .authenticationFailed, owners[address] == radio else { return error }
        let error = choice.refused(address, by: radio, error)
        reportBond(with: address, radio)
        return error
    }

    /// A device has refused the bond of a radio, or accepts it again.
    private func reportBond(with address: BluetoothAddress, _ radio: Int) {
        onChange?(.bonds(radio: members[radio].name, bonds[radio], changed: [address]))
    }

    private func connected(_ address: BluetoothAddress, _ radio: Int) {
        guard choice.connected(address, by: radio, at: now()) else { return later.request() }
        owners[address] = radio
        let member = members[radio]
        onChange?(.linked(address, radio: member.name, adapter: member.unit.adapterID))
        onEvent?(.connected(address))
        later.request()
    }

    private func disconnected(_ address: BluetoothAddress, _ radio: Int, _ error: BluetoothError?) {
        if owners[address] == radio { owners[address] = nil }
        let isLost = members[radio].unit.state != .poweredOn || error?.code == .poweredOff
        let outcome = choice.disconnected(address, by: radio, error, isRadioLost: isLost, at: now())
        later.request()
        if error?.code == .authenticationFailed { reportBond(with: address, radio) }
        guard case .ended(let error) = outcome else { return }
        if let error, !isLost { remember(End(address: address, radio: radio, at: now(), error: error)) }
        onEvent?(.disconnected(address, isLost && hasOther(than: radio) ? error.map { lost(radio, $0) } : error))
    }

    private func remember(_ end: End) {
        ends.removeAll { $0.address == end.address || end.at - $0.at > Self.lateLoss }
        ends.append(end)
    }

    /// Corrects the cause of the links that have ended just before their radio was lost.
    private func explainEnds(of radio: Int) {
        let now = self.now()
        let explained = ends.filter {
            $0.radio == radio && now - $0.at <= Self.lateLoss && owners[$0.address] == nil
        }
        ends.removeAll { $0.radio == radio }
        guard hasOther(than: radio) else { return }
        for end in explained { onChange?(.lost(end.address, lost(radio, end.error))) }
    }

    private func hasOther(than radio: Int) -> Bool {
        states.indices.contains { $0 != radio && states[$0] == .poweredOn }
    }

    /// The error of a link whose radio was lost, while another one can make the next link.
    private func lost(_ radio: Int, _ error: BluetoothError) -> BluetoothError {
        BluetoothError(
            .connectionFailed, name: "radio_lost", text: "the radio \(members[radio].name) was lost: \(error.text)",
            end: .local)
    }

    private func discovered(_ address: BluetoothAddress, _ advertisement: Advertisement, _ radio: Int) {
        let now = self.now()
        choice.received(
            address, rssi: advertisement.rssi, by: radio, isConnected: advertisement.isConnected, at: now)
        // The signal strength that is shown is that of the radio that would be used.
        if advertisement.isConnected || choice.bestReceiver(of: address, at: now) == radio {
            var advertisement = advertisement
            advertisement.isPaired = advertisement.isPaired || publishedBonds.contains(address)
            onEvent?(.discovered(address, advertisement))
        }
        if choice.isConcerned(by: address) { advance(address) }
    }

    private func bondsChanged(to addresses: Set<BluetoothAddress>, _ radio: Int) {
        let changed = addresses.symmetricDifference(bonds[radio])
        bonds[radio] = addresses
        choice.setBonds(addresses, of: radio)
        onChange?(.bonds(radio: members[radio].name, addresses, changed: changed))
        let all = bonds.reduce(into: Set()) { $0.formUnion($1) }
        if all != publishedBonds {
            publishedBonds = all
            onEvent?(.bonds(all))
        }
        later.request()
    }

    private func forgotten(_ address: BluetoothAddress, _ error: BluetoothError?, _ radio: Int) {
        guard var forgetting = forgetting[address], forgetting.pending.remove(radio) != nil else { return }
        forgetting.error = forgetting.error ?? error
        self.forgetting[address] = forgetting
        guard forgetting.pending.isEmpty else { return }
        self.forgetting[address] = nil
        if forgetting.error == nil { choice.forget(address) }
        onEvent?(.forgotten(address, forgetting.error))
    }

    // MARK: States

    private func stateChanged(to new: CentralState, _ radio: Int) {
        let wasUsable = states[radio] == .poweredOn
        states[radio] = new
        choice.setUsable(new == .poweredOn, radio)
        if wasUsable, new != .poweredOn {
            log.warning("radio lost", [(.radio, members[radio].name), (.state, "\(new)")])
            explainEnds(of: radio)
        } else if new == .poweredOn, !wasUsable {
            log.notice("radio ready", [(.radio, members[radio].name)])
        }
        reportAdapters()
        // The best state of all: one radio is enough.
        let combined = states.max { $0.rawValue < $1.rawValue } ?? .unknown
        if combined != state {
            state = combined
            onEvent?(.stateChanged(combined))
        }
        reportScanning()
        later.request()
    }

    private func reportScanning() {
        let isNow = scanning.contains(true)
        guard isNow != isScanning else { return }
        isScanning = isNow
        onEvent?(.scanning(isNow))
    }

    private func adaptersChanged(to list: [Adapter], _ radio: Int) {
        adapters[radio] = list
        choice.setCapacity(adapter(of: radio)?.linkLimit, of: radio)
        reportAdapters()
        later.request()
    }

    private func adapter(of radio: Int) -> Adapter? {
        adapters[radio].first { $0.id == members[radio].unit.adapterID }
    }

    /// One adapter for each radio: the one in use. Several radios of one host see the same list.
    private func reportAdapters() {
        let all = members.indices.map { index in
            let (name, unit) = (members[index].name, members[index].unit)
            var adapter =
                adapter(of: index)
                ?? Adapter(
                    id: unit.adapterID ?? name, address: nil, state: states[index], isDiscovering: false,
                    connectedCount: 0)
            adapter.radio = name
            adapter.fault = adapter.fault ?? unit.fault
            return adapter
        }
        guard all != reportedAdapters else { return }
        reportedAdapters = all
        onEvent?(.adaptersChanged(all))
    }

}

extension BluetoothError {
    fileprivate static let noLink = BluetoothError(.notFound, text: "not connected")
}
