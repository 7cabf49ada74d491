public import Bluetooth
import EventLoop
public import JacquardProtocol

extension JacquardManager {
    /// Connects a tag and keeps it connected; nothing happens if it is wanted already.
    ///
    /// While Bluetooth is not on, that is told as `disconnected` with `bluetoothPowerOff`, and nothing is remembered.
    /// So is, with `unconnectableTag`, a second identity for an address that belongs to another wanted tag. Where that one is
    /// being disconnected, the second waits for the end of it.
    ///
    /// - Parameter identity: the tag.
    public func connect(_ identity: TagIdentity) {
        connect(identity, retrying: .always)
    }

    func connect(_ identity: TagIdentity, retrying rule: TagSession.RetryRule, bonding: Bool = false) {
        guard state == .poweredOn else { return refuse(identity, .unusable(state)) }
        guard let driver = tags[identity] ?? add(identity) else {
            guard !isAddressBeingLeft(for: identity) else {
                return successors[identity, default: SuccessorWish(rule: rule)].join(rule, bonding: bonding)
            }
            return refuse(identity, TagConnectionError(.unconnectableTag, "its address belongs to another tag"))
        }
        driver.place = .kept
        if let address = known[identity], driver.address == nil, drivers[address] == nil {
            bind(driver, to: address)
            driver.found(at: address)
        }
        driver.drive { session, now in session.connect(retrying: rule, bonding: bonding, at: now) }
    }

    /// Disconnects a tag, until somebody wants it again.
    public func disconnect(_ identity: TagIdentity) {
        if successors.removeValue(forKey: identity) != nil {
            tell(.connection(TagConnection(state: .disconnected, attempt: 1)), of: identity)
        }
        tags[identity]?.drive { session, now in session.disconnect(at: now) }
    }

    /// A tag that is named by its serial was connected at this address by a former run of this program. It keeps the
    /// address, see ``isTag(_:_:)``, and need not advertise to be connected there.
    public func expect(_ identity: TagIdentity, at address: BluetoothAddress) {
        known[identity] = address
    }

    /// Whether a device that was seen is a tag, and not another device that advertises its serial.
    ///
    /// A tag is at the address where it was found. A tag without a driver is at the address where it was
    /// connected last, or is the only one of the two with a bond.
    public func isTag(_ identity: TagIdentity, _ tag: AdvertisedTag) -> Bool {
        guard identity.matches(tag) else { return false }
        if let address = tags[identity]?.address { return address == tag.identifier }
        guard let address = known[identity], address != tag.identifier else { return true }
        return tag.isPaired && !sightings.bonded.contains(address)
    }

    /// Where a wanted tag was found.
    ///
    /// - Returns: nil for one that nobody has wanted, or that has not been heard.
    public func address(of identity: TagIdentity) -> BluetoothAddress? {
        tags[identity]?.address
    }

    /// Gives a tag something to do. It ends with one `TagEvent.commandEnded`.
    ///
    /// - Parameters:
    ///   - command: what to do.
    ///   - identity: which tag; one that is not wanted is not connected.
    ///   - token: comes back with the end; below 2^63, for those above are the commands of a ``ConnectedTag``.
    public func enqueue(_ command: TagCommand, on identity: TagIdentity, token: UInt64) {
        guard let driver = tags[identity] else {
            return tell(.commandEnded(token: token, .failure(.notConnected)), of: identity)
        }
        driver.drive { session, now in session.enqueue(command, token: token, at: now) }
    }

    private func refuse(_ identity: TagIdentity, _ error: TagConnectionError) {
        tell(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)), of: identity)
    }

    /// Makes a place for a tag; nil if its address is another's.
    private func add(_ identity: TagIdentity) -> TagDriver? {
        if let address = identity.address, let other = drivers[address] {
            guard other.facts.isStopped, pairings[other.identity] == nil else { return nil }
            drop(other)
        }
        let session = TagSession(timing: timing, catalogue: catalogue, seed: .random(in: .min ... .max))
        let driver = TagDriver(identity, session: session, central: central) { [weak self] event in
            self?.tell(event, of: identity)
        } onChange: { [weak self] driver in
            self?.changed(driver)
        }
        driver.isPairing = pairings[identity] != nil
        tags[identity] = driver
        if let address = identity.address { bind(driver, to: address) }
        return driver
    }

    private func isAddressBeingLeft(for identity: TagIdentity) -> Bool {
        identity.address.flatMap { drivers[$0] }?.session.isStopping ?? false
    }

    /// A driver has begun or ceased to look, or has stopped. Then it goes, unless it alone knows the tag's address.
    func changed(_ driver: TagDriver) {
        if driver.facts.isStopped, driver.identity.address != nil || driver.place == .forgotten { drop(driver) }
        updateScan()
        if let address = driver.address { connectSuccessors(at: address) }
    }

    /// Who waits for an address gets it, or is refused because its owner has stayed.
    private func connectSuccessors(at address: BluetoothAddress) {
        for (identity, wish) in successors where identity.address == address {
            successors[identity] = nil
            connect(identity, retrying: wish.rule, bonding: wish.bonding)
        }
    }

    private func drop(_ driver: TagDriver) {
        guard tags[driver.identity] === driver else { return }
        tags[driver.identity] = nil
        guard let address = driver.address, drivers[address] === driver else { return }
        drivers[address] = nil
        expectPairing()
    }

    func bind(_ driver: TagDriver, to address: BluetoothAddress) {
        drivers[address] = driver
        driver.isPaired = sightings.bonded.contains(address)
        expectPairing()
    }

    /// Devices at known addresses may pair when they ask for it.
    private func expectPairing() {
        central.perform(.acceptPairing(from: Set(drivers.keys)))
    }
}

/// How a tag is to be connected as soon as its address is free.
struct SuccessorWish {
    /// Which errors are final.
    private(set) var rule: TagSession.RetryRule
    /// Whether to make a bond.
    private(set) var bonding = false

    init(rule: TagSession.RetryRule) {
        self.rule = rule
    }

    /// It is wished again: the more lasting rule stays, as in ``JacquardProtocol/TagSession``.
    mutating func join(_ rule: TagSession.RetryRule, bonding: Bool) {
        if rule == .always { self.rule = .always }
        self.bonding = self.bonding || bonding
    }
}
