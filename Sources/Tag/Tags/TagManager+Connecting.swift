public import Bluetooth
import EventLoop
public import JacquardProtocol

extension TagManager {
    /// Connects a tag and keeps it connected. Does nothing if the tag is already being connected.
    ///
    /// While Bluetooth is not on, the request fails: the tag is reported as `disconnected` with `bluetoothPowerOff`. A
    /// second tag for the address of another one fails with `unconnectableTag`; while that one is disconnecting,
    /// the request waits for its end instead.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - rule: which errors are final.
    public func connect(_ tag: TagHandle, retrying rule: TagSession.RetryRule = .always) {
        if let row = rows[tag] { connect(row, retrying: rule) }
    }

    func connect(_ row: TagRow, retrying rule: TagSession.RetryRule, bonding: Bool = false) {
        guard state == .poweredOn else { return refuse(row, .unusable(state)) }
        guard let driver = row.driver ?? addDriver(row) else {
            guard !isAddressBeingLeft(for: row) else { return wait(row, rule, bonding: bonding) }
            return refuse(row, TagConnectionError(.unconnectableTag, "its address belongs to another tag"))
        }
        driver.retention = .kept
        // A tag that is linked does not advertise: an earlier process may have been killed while it was paired.
        let linked = row.pairing == nil ? nil : row.identity.serial.flatMap { sightings.connected($0) }
        if let address = known[row.identity] ?? linked, driver.address == nil, drivers[address] == nil {
            bind(driver, to: address)
            driver.found(at: address)
        }
        driver.drive { session, now in session.connect(retrying: rule, bonding: bonding, at: now) }
    }

    /// Disconnects a tag and keeps it disconnected until the next call to ``connect(_:retrying:)``.
    public func disconnect(_ tag: TagHandle) {
        if let row = rows[tag] { disconnect(row) }
    }

    func disconnect(_ row: TagRow) {
        if let index = pendingConnections.firstIndex(where: { $0.row === row }) {
            pendingConnections.remove(at: index)
            emit(.connection(TagConnection(state: .disconnected, attempt: 1)), of: row)
        }
        row.driver?.drive { session, now in session.disconnect(at: now) }
    }

    /// Reports another cause of the lost link of a tag that has none yet.
    public func correctLoss(at address: BluetoothAddress, _ error: BluetoothError) {
        drivers[address]?.drive { session, _ in session.correctLoss(TagConnectionError(error)) }
    }

    /// Sends a command to a tag. Each command ends with one `TagEvent.commandEnded`.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - tag: the tag; without a connection the command fails with `notConnected`.
    ///   - token: identifies the command in `commandEnded`.
    ///   - isFirst: whether it precedes the commands that wait, except earlier ones with the same right.
    public func enqueue(_ command: TagCommand, on tag: TagHandle, token: UInt64, isFirst: Bool) {
        guard let row = rows[tag] else {
            onEvent?(.tag(tag, .commandEnded(token: token, .failure(.notConnected))))
            return
        }
        enqueue(command, on: row, token: token, isFirst: isFirst)
    }

    func enqueue(_ command: TagCommand, on row: TagRow, token: UInt64, isFirst: Bool) {
        guard let driver = row.driver else {
            return emit(.commandEnded(token: token, .failure(.notConnected)), of: row)
        }
        driver.drive { session, now in session.enqueue(command, token: token, isFirst: isFirst, at: now) }
    }

    /// Selects the views of raw data that are reported for a tag, on its link and later ones.
    public func observeRawData(_ views: RawViews, of tag: TagHandle) {
        rows[tag]?.driver?.drive { session, _ in session.observeRawData(views) }
    }

    /// Reports the latest values of a tag's current connection again, for a receiver that has missed their events.
    public func reportAgain(_ tag: TagHandle) {
        guard let row = rows[tag] else { return }
        for event in row.driver?.facts.events ?? [] { onEvent?(.tag(tag, event)) }
    }

    private func refuse(_ row: TagRow, _ error: TagConnectionError) {
        emit(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)), of: row)
        endIfUnused(row)
    }

    /// Adds a driver for a tag; nil if its address belongs to another tag.
    private func addDriver(_ row: TagRow) -> TagDriver? {
        if let address = row.identity.address, let other = drivers[address] {
            guard other.facts.isStopped, other.row.pairing == nil else { return nil }
            remove(other)
        }
        let session = TagSession(sharing: timing, catalogue: catalogue, seed: random.next())
        let driver = TagDriver(row, session: session, of: self)
        row.driver = driver
        if let address = row.identity.address { bind(driver, to: address) }
        return driver
    }

    private func isAddressBeingLeft(for row: TagRow) -> Bool {
        row.identity.address.flatMap { drivers[$0] }?.session.isStopping == true
    }

    /// Handles a driver that has started or stopped waiting for a link, or has stopped. Removes a stopped driver,
    /// unless it holds the only record of the tag's address.
    func changed(_ driver: TagDriver) {
        let isKept = driver.row.identity.address == nil && driver.retention != .forgotten && isOwned(driver.row)
        if driver.facts.isStopped, !isKept { remove(driver) }
        updateScan()
        if let address = driver.address { connectPending(at: address) }
    }

    private func wait(_ row: TagRow, _ rule: TagSession.RetryRule, bonding: Bool) {
        if let index = pendingConnections.firstIndex(where: { $0.row === row }) {
            return pendingConnections[index].join(rule, bonding: bonding)
        }
        pendingConnections.append(PendingConnection(row: row, rule: rule, bonding: bonding))
    }

    /// Connects the tags that wait for an address. They are refused if its current tag is still in use.
    private func connectPending(at address: BluetoothAddress) {
        guard !pendingConnections.isEmpty else { return }
        let due = pendingConnections.filter { $0.row.identity.address == address }
        pendingConnections.removeAll { $0.row.identity.address == address }
        for pending in due { connect(pending.row, retrying: pending.rule, bonding: pending.bonding) }
    }

    private func remove(_ driver: TagDriver) {
        let row = driver.row
        guard row.driver === driver else { return }
        row.driver = nil
        endIfUnused(row)
        resetDuplicateReport(of: row)
        guard let address = driver.address, drivers[address] === driver else { return }
        drivers[address] = nil
        pairable.remove(address)
        central.perform(.acceptPairing(from: pairable))
    }

    func bind(_ driver: TagDriver, to address: BluetoothAddress) {
        drivers[address] = driver
        driver.isPaired = sightings.bonded.contains(address)
        pairable.insert(address)
        chooseRadio(for: driver.row, at: address)
        central.perform(.acceptPairing(from: pairable))
    }
}

/// A requested connection that waits until another tag has released the address.
struct PendingConnection {
    let row: TagRow
    /// Which errors are final.
    private(set) var rule: TagSession.RetryRule
    /// Whether to bond.
    private(set) var bonding: Bool

    /// Merges another request for the same tag. `always` takes precedence, as in ``JacquardProtocol/TagSession``.
    mutating func join(_ rule: TagSession.RetryRule, bonding: Bool) {
        if rule == .always { self.rule = .always }
        self.bonding = self.bonding || bonding
    }
}
