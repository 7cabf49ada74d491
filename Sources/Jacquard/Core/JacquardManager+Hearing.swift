import Bluetooth
import EventLoop
import JacquardProtocol
import Logging
import Time

extension JacquardManager {
    /// The central tells of a device.
    func heard(_ address: BluetoothAddress, _ advertisement: Advertisement) {
        sightings.note(address, isBonded: advertisement.isPaired)
        drivers[address]?.isPaired = advertisement.isPaired
        guard let tag = AdvertisedTag(address, advertisement) else { return }
        let now = Instant.now
        let sharing = sightings.hear(tag, at: now) { drivers[$0]?.facts.isLinked ?? false }
        find(tag, at: now)
        if let identity = drivers[address]?.identity { followers[identity]?.tag?.heard(tag) }
        tellAdvertisement(tag)
        guard let sharing else { return }
        log.debug(
            "several tags have one serial",
            [
                (.tag, tag.pairingSerialNumber.description),
                (.address, sharing.map(\.description).joined(separator: " ")),
            ])
        onEvent?(.duplicateSerial(tag.pairingSerialNumber, sharing))
    }

    /// Finds out whose address it is. A tag that is known at one address is believed at another only after it has been
    /// silent at the first: two tags may share a serial, and must not be mixed up.
    private func find(_ tag: AdvertisedTag, at now: Instant) {
        if let driver = drivers[tag.identifier] { return driver.lastSign = now }
        // Whose address is fixed is in the table above.
        guard let driver = tags[TagIdentity(serial: tag.pairingSerialNumber)] else { return }
        if let known = driver.address {
            guard driver.isLooking, driver.lastSign.map({ now - $0 > Sightings.silence }) ?? true else { return }
            driver.forgetAddress()
            drivers[known] = nil
        }
        log.debug(
            "found a tag", [(.tag, tag.pairingSerialNumber.description), (.address, tag.identifier.description)])
        driver.lastSign = now
        bind(driver, to: tag.identifier)
        driver.found(at: tag.identifier)
    }
}
