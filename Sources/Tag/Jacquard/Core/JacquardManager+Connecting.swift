public import Bluetooth
import EventLoop
public import JacquardProtocol

extension JacquardManager {
    /// Connects a tag and keeps it connected. Does nothing if the tag is already being connected.
    ///
    /// While Bluetooth is not on, the request fails: the tag is reported as `disconnected` with `bluetoothPowerOff`. A
    /// second identity for the address of another tag fails with `unconnectableTag`; while that tag is disconnecting,
    /// the request waits for its end instead.
    ///
    /// - Parameter identity: the tag.
    public func connect(_ identity: TagIdentity) {
        connect(identity, retrying: .always)
    }

    func connect(_ identity: TagIdentity, retrying rule: TagSession.RetryRule, bonding: Bool = false) {
        guard state == .poweredOn else { return refuse(identity, .unusable(state)) }
        guard let driver = tags[identity] ?? add(identity) else {
            guard !isAddressBeingLeft(for: identity) else {
                return pendingConnections[identity, default: PendingConnection(rule: rule)].join(rule, bonding: bonding)
            }
            return refuse(identity, TagConnectionError(.unconnectableTag, "its address belongs to another tag"))
        }
        driver.retention = .kept
        if let address = known[identity], driver.address == nil, drivers[address] == nil {
            bind(driver, to: address)
            driver.found(at: address)
        }
        driver.drive { session, now in session.connect(retrying: rule, bonding: bonding, at: now) }
    }

    /// Disconnects a tag and keeps it disconnected until the next call to ``connect(_:)-(TagIdentity)``.
    public func disconnect(_ identity: TagIdentity) {
        if pendingConnections.removeValue(forKey: identity) != nil {
            emit(.connection(TagConnection(state: .disconnected, attempt: 1)), of: identity)
        }
        tags[identity]?.drive { session, now in session.disconnect(at: now) }
    }

    /// Sets the address at which a tag identified by its serial was connected in an earlier run of the program.
    ///
    /// The tag keeps the address, see ``isTag(_:_:)``. It can be connected there before it advertises.
    public func expect(_ identity: TagIdentity, at address: BluetoothAddress) {
        known[identity] = address
    }

    /// Whether a discovered device is the given tag, and not another device that advertises its serial.
    ///
    /// A tag is at the address where it was found. A tag without a driver is at the address of its last connection. A
    /// device at another address is the tag only if it has a bond and the device at the last address has none.
    public func isTag(_ identity: TagIdentity, _ tag: AdvertisedTag) -> Bool {
        guard identity.matches(tag) else { return false }
        if let address = tags[identity]?.address { return address == tag.identifier }
        guard let address = known[identity], address != tag.identifier else { return true }
        return tag.isPaired && !sightings.bonded.contains(address)
    }

    /// Returns the address of a tag that was connected or is to be connected.
    ///
    /// - Returns: nil if no connection was requested, or the tag has not been found.
    public func address(of identity: TagIdentity) -> BluetoothAddress? {
        tags[identity]?.address
    }

    /// Reports another cause of the lost link of a tag that has none yet.
    public func correctLoss(at address: BluetoothAddress, _ error: BluetoothError) {
        drivers[address]?.drive { session, _ in session.correctLoss(TagConnectionError(error)) }
    }

    /// Returns the tag that is or was connected at an address.
    public func identity(at address: BluetoothAddress) -> TagIdentity? { drivers[address]?.identity }

    /// Sends a command to a tag. Each command ends with one `TagEvent.commandEnded`.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - identity: the tag; without a connection the command fails with `notConnected`.
    ///   - token: identifies the command in `commandEnded`; below 2^63. Larger tokens are used by ``ConnectedTag``.
    ///   - isFirst: whether it precedes the commands that wait, except earlier ones with the same right.
    public func enqueue(_ command: TagCommand, on identity: TagIdentity, token: UInt64, isFirst: Bool = false) {
        guard let driver = tags[identity] else {
            return emit(.commandEnded(token: token, .failure(.notConnected)), of: identity)
        }
        driver.drive { session, now in session.enqueue(command, token: token, isFirst: isFirst, at: now) }
    }

    /// Selects the views of raw data that are reported for a tag, on its link and later ones.
    public func observeRawData(_ views: RawViews, of identity: TagIdentity) {
        tags[identity]?.drive { session, _ in session.observeRawData(views) }
    }

    private func refuse(_ identity: TagIdentity, _ error: TagConnectionError) {
        emit(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)), of: identity)
    }

    /// Adds a driver for a tag; nil if its address belongs to another tag.
    private func add(_ identity: TagIdentity) -> TagDriver? {
        if let address = identity.address, let other = drivers[address] {
            guard other.facts.isStopped, pairings[other.identity] == nil else { return nil }
            remove(other)
        }
        let session = TagSession(sharing: timing, catalogue: catalogue, seed: random.next())
        let driver = TagDriver(identity, session: session, central: central) { [weak self] event, time in
            guard let self else { return }
            eventTime = time
            emit(event, of: identity)
        } onChange: { [weak self] driver in
            self?.changed(driver)
        }
        driver.isPairing = pairings[identity] != nil
        tags[identity] = driver
        if let address = identity.address { bind(driver, to: address) }
        return driver
    }

    private func isAddressBeingLeft(for identity: TagIdentity) -> Bool {
        identity.address.flatMap { drivers[$0] }?.session.isStopping == true
    }

    /// Handles a driver that has started or stopped waiting for a link, or has stopped. Removes a stopped driver,
    /// unless it holds the only record of the tag's address.
    func changed(_ driver: TagDriver) {
        if driver.facts.isStopped, driver.identity.address != nil || driver.retention == .forgotten { remove(driver) }
        updateScan()
        if let address = driver.address { connectPending(at: address) }
    }

    /// Connects the tags that wait for an address. They are refused if its current tag is still in use.
    private func connectPending(at address: BluetoothAddress) {
        for (identity, pending) in pendingConnections where identity.address == address {
            pendingConnections[identity] = nil
            connect(identity, retrying: pending.rule, bonding: pending.bonding)
        }
    }

    private func remove(_ driver: TagDriver) {
        guard tags[driver.identity] === driver else { return }
        tags[driver.identity] = nil
        resetDuplicateReport(of: driver.identity)
        guard let address = driver.address, drivers[address] === driver else { return }
        drivers[address] = nil
        pairable.remove(address)
        central.perform(.acceptPairing(from: pairable))
    }

    func bind(_ driver: TagDriver, to address: BluetoothAddress) {
        drivers[address] = driver
        driver.isPaired = sightings.bonded.contains(address)
        pairable.insert(address)
        chooseRadio(for: driver.identity, at: address)
        central.perform(.acceptPairing(from: pairable))
    }

}

/// A requested connection that waits until another tag has released the address.
struct PendingConnection {
    /// Which errors are final.
    private(set) var rule: TagSession.RetryRule
    /// Whether to bond.
    private(set) var bonding = false

    init(rule: TagSession.RetryRule) {
        self.rule = rule
    }

    /// Merges another request for the same tag. `always` takes precedence, as in ``JacquardProtocol/TagSession``.
    mutating func join(_ rule: TagSession.RetryRule, bonding: Bool) {
        if rule == .always { self.rule = .always }
        self.bonding = self.bonding || bonding
    }
}
