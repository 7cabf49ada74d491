public import Bluetooth
public import JacquardProtocol

// MARK: Adding and removing tags

extension TagManager {
    /// Adds a tag: `tag` is its name in all other methods and in events. Does not connect it.
    ///
    /// Does nothing if the handle was added before. A tag with another handle and the same identity keeps its state, and gets this
    /// handle.
    ///
    /// - Parameters:
    ///   - tag: the handle, with one of the numbers of `TagHandle.ofBridge`.
    ///   - identity: identifies the tag on the radio.
    public func add(_ tag: TagHandle, _ identity: TagIdentity) {
        guard rows[tag] == nil else { return }
        let row = row(of: identity) { tag }
        if isOwned(row) { rows[row.handle] = nil }
        row.handle = tag
        rows[tag] = row
        if let address = identity.address { rowsByAddress[address] = row }
    }

    /// Removes a tag, which should have been disconnected. Only the address of its last connection is kept.
    public func remove(_ tag: TagHandle) {
        guard let row = rows.removeValue(forKey: tag) else { return }
        if let address = row.identity.address, rowsByAddress[address] === row { rowsByAddress[address] = nil }
        if let driver = row.driver { changed(driver) } else { endIfUnused(row) }
    }

    /// Sets the address at which a tag identified by its serial was connected in an earlier run of the program.
    ///
    /// The tag keeps the address: any device can advertise its serial. It can be connected there before it advertises.
    public func expect(_ tag: TagHandle, at address: BluetoothAddress) {
        if let row = rows[tag] { known[row.identity] = address }
    }

    /// Returns the row of an identity, or adds one with a handle.
    func row(of identity: TagIdentity, orAdd handle: () -> TagHandle) -> TagRow {
        if let row = rowsByIdentity[identity] { return row }
        let row = TagRow(handle(), identity)
        rowsByIdentity[identity] = row
        return row
    }

    /// Whether the owner of the manager has added the tag, and has not removed it.
    func isOwned(_ row: TagRow) -> Bool { rows[row.handle] === row }

    /// Ends a row that has no owner and no use.
    func endIfUnused(_ row: TagRow) {
        guard !isOwned(row), row.driver == nil, row.pairing == nil,
            !pendingConnections.contains(where: { $0.row === row }), rowsByIdentity[row.identity] === row
        else { return }
        rowsByIdentity[row.identity] = nil
    }
}

// MARK: Looking up tags

extension TagManager {
    /// Returns the address of a tag that was connected or is to be connected.
    ///
    /// - Returns: nil if no connection was requested, or the tag has not been found.
    public func address(of tag: TagHandle) -> BluetoothAddress? { rows[tag]?.driver?.address }

    /// Returns the serial of a tag; nil for one that is identified by its address alone.
    public func serial(of tag: TagHandle) -> String? { rows[tag]?.identity.serial?.description }

    /// Returns the identity of a tag; nil for one that was not added.
    public func identity(of tag: TagHandle) -> TagIdentity? { rows[tag]?.identity }

    /// Returns the last advertisement from the address of a tag; nil if there was none.
    public func advertisement(of tag: TagHandle) -> AdvertisedTag? { address(of: tag).flatMap { sightings[$0] } }

    /// Returns the last advertisement from an address; nil if there was none.
    public func advertisement(at address: BluetoothAddress) -> AdvertisedTag? { sightings[address] }

    /// Whether a tag accepts commands.
    public func isConnected(_ tag: TagHandle) -> Bool { rows[tag]?.driver?.session.isConnected ?? false }

    /// Whether the central has reported an advertisement or a bond of an address, or a tag is to be connected there.
    public func isKnown(_ address: BluetoothAddress) -> Bool { drivers[address] != nil || sightings.isKnown(address) }

    /// The addresses with a bond, of tags or not.
    public var bondedAddresses: Set<BluetoothAddress> { sightings.bonded }

    /// The addresses of the tags that are to be connected and were found.
    public var wantedAddresses: [BluetoothAddress] { drivers.filter { !$0.value.facts.isStopped }.map(\.key) }

    /// Returns the values of a tag's current connection; nil if no connection was requested.
    package func facts(of tag: TagHandle) -> TagFacts? { rows[tag]?.driver?.facts }

    /// Notes the name that a tag has been given.
    package func renamed(_ address: BluetoothAddress, to name: String) { sightings.rename(address, to: name) }

    /// Returns the tag that is or was connected at an address, also a removed one that is not disconnected yet.
    public func tag(at address: BluetoothAddress) -> TagHandle? { drivers[address]?.row.handle }

    /// The added tags that a discovered device is: one with a fixed address, and one that is identified by its serial.
    func tags(_ tag: AdvertisedTag) -> [TagHandle] {
        [rowsByAddress[tag.identifier], rowsByIdentity[TagIdentity(serial: tag.pairingSerialNumber)]]
            .compactMap { row in row.flatMap { isOwned($0) && isTag($0, tag) ? $0.handle : nil } }
    }

    /// Whether a discovered device is the given tag, and not another device that advertises its serial.
    ///
    /// A tag is at the address where it was found. A tag without a driver is at the address of its last connection. A
    /// device at another address is the tag only if it has a bond and the device at the last address has none.
    private func isTag(_ row: TagRow, _ tag: AdvertisedTag) -> Bool {
        if let address = row.driver?.address { return address == tag.identifier }
        guard let address = known[row.identity], address != tag.identifier else { return true }
        return tag.isPaired && !sightings.bonded.contains(address)
    }
}
