import Bluetooth
import EventLoop
import JacquardProtocol
import Logging
import Time

extension JacquardManager {
    /// Handles a new list of bonds of this host.
    func bondsChanged(to addresses: Set<BluetoothAddress>) {
        sightings.bonded = addresses
        for (address, driver) in drivers { driver.isPaired = addresses.contains(address) }
    }

    /// Handles a device that the central knows but does not receive now. It only counts for duplicate serials.
    func remembered(_ address: BluetoothAddress, _ advertisement: Advertisement) {
        guard let tag = AdvertisedTag(address, advertisement) else { return }
        reportSharing(of: tag, at: .now)
    }

    /// Handles an advertisement.
    func discovered(_ address: BluetoothAddress, _ advertisement: Advertisement) {
        sightings.note(address, isBonded: advertisement.isPaired)
        drivers[address]?.isPaired = advertisement.isPaired
        guard let tag = AdvertisedTag(address, advertisement) else { return }
        let now = Instant.now
        find(tag, at: now)
        sightings.record(tag, at: now) { drivers[$0] != nil }
        if let identity = drivers[address]?.identity { followers[identity]?.tag?.update(from: tag) }
        reportAdvertisement(tag)
        reportSharing(of: tag, at: now)
    }

    private func reportSharing(of tag: AdvertisedTag, at now: Instant) {
        let known = known.all(of: tag.pairingSerialNumber)
        let sharing = sightings.sharing(tag, at: now, known: known) { drivers[$0]?.facts.isLinked ?? false }
        guard let sharing else { return }
        log.debug(
            "several tags have one serial",
            [
                (.tag, tag.pairingSerialNumber.description),
                (.address, sharing.map(\.description).joined(separator: " ")),
            ])
        onEvent?(.duplicateSerial(tag.pairingSerialNumber, sharing))
    }

    /// Binds an address to the tag that it belongs to; see ``KnownAddresses`` for a tag that has an address
    /// already.
    private func find(_ tag: AdvertisedTag, at now: Instant) {
        if let driver = drivers[tag.identifier] { return driver.lastSign = now }
        // Tags with a fixed address are in `drivers`, so this one is identified by its serial.
        let identity = TagIdentity(serial: tag.pairingSerialNumber)
        guard let driver = tags[identity] else { return }
        if let address = driver.address {
            let holder = KnownAddresses.Holder(
                address: address, isBonded: sightings.bonded.contains(address), isKnown: known[identity] == address,
                isPairing: driver.isPairing, lastSign: driver.lastSign)
            guard driver.isLooking,
                KnownAddresses.movesIdentity(from: holder, toDeviceWithBond: tag.isPaired, at: now)
            else { return }
            log.notice(
                "tag has another address",
                [(.tag, tag.pairingSerialNumber.description), (.address, tag.identifier.description)])
            driver.forgetAddress()
            drivers[address] = nil
            known[identity] = nil
        }
        log.debug(
            "found a tag", [(.tag, tag.pairingSerialNumber.description), (.address, tag.identifier.description)])
        driver.lastSign = now
        bind(driver, to: tag.identifier)
        driver.found(at: tag.identifier)
    }
}
