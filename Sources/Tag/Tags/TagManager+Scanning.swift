public import Bluetooth
import EventLoop
import JacquardProtocol
import Logging
import Time

/// An error of ``TagManager/startScanning(allowsDuplicates:)``. Source: JacquardSDKiOS, `ManagerScanningError`.
public enum ManagerScanningError: Error, Hashable, Sendable {
    /// Bluetooth is not on. The value is its state.
    case bluetoothUnavailable(CentralState)
}

/// Desired and actual scan state.
struct RequestedScan {
    /// The options last requested from the central.
    var requested: BluetoothUUID?
    /// Whether the caller has started a scan. The search for missing tags does not count.
    var isWanted = false
    /// Whether the central scans.
    var isRunning = false
    /// Whether a running scan has been reported.
    var isReported = false
    /// The addresses reported during this scan; nil in a scan with duplicates.
    private var reported: Set<BluetoothAddress>? = []

    /// Upper bound on addresses reported in one scan without duplicates. Made-up addresses can't grow the set further.
    private static let limit = 1000

    /// Starts a scan.
    mutating func begin(allowsDuplicates: Bool) {
        reported = allowsDuplicates ? nil : []
        isWanted = true
    }

    /// Whether to report a received advertisement: each in a scan with duplicates, otherwise one per address up to the
    /// limit.
    mutating func isNew(_ tag: AdvertisedTag) -> Bool {
        guard let count = reported?.count else { return true }
        guard count < Self.limit else { return false }
        return reported?.insert(tag.identifier).inserted == true
    }
}

extension TagManager {
    /// Scans for tags until ``stopScanning()``. Tags are reported as ``Event/advertised(_:isNew:of:)``.
    ///
    /// The scan resumes after Bluetooth was off. Source: JacquardSDKiOS, `startScanning(options:)`. Of its options,
    /// `CBCentralManagerScanOptionAllowDuplicatesKey` is supported; BlueZ has no counterpart for solicited services.
    ///
    /// - Parameter allowsDuplicates: whether each advertisement is reported, instead of one per tag.
    /// - Throws: ``ManagerScanningError/bluetoothUnavailable(_:)`` while Bluetooth is not on.
    public func startScanning(allowsDuplicates: Bool) throws(ManagerScanningError) {
        guard state == .poweredOn else { throw .bluetoothUnavailable(state) }
        scan.begin(allowsDuplicates: allowsDuplicates)
        updateScan()
    }

    /// Whether a scan was started and not stopped, also while Bluetooth is off.
    public var isScanWanted: Bool { scan.isWanted }

    /// Stops the scan. The search for missing tags continues. Source: JacquardSDKiOS, `stopScanning`.
    public func stopScanning() {
        scan.isWanted = false
        updateScan()
    }

    /// Reports an advertisement of a tag.
    func reportAdvertisement(_ tag: AdvertisedTag) {
        let isNew = scan.isNew(tag)
        onEvent?(.advertised(tag, isNew: isNew, of: tags(tag)))
    }

    /// Scans while a scan is requested or a tag that is to be connected is missing.
    func updateScan() {
        let isMissing = rowsByIdentity.values.contains { $0.driver?.isLooking == true }
        let isWanted = state == .poweredOn && (isMissing || scan.isWanted)
        let wanted = isWanted ? JacquardGATT.service : nil
        if wanted != scan.requested {
            scan.requested = wanted
            central.perform(.scan(wanted))
        }
        reportScan()
    }

    /// Handles the start or end of the central's scan.
    func scanChanged(_ isRunning: Bool) {
        scan.isRunning = isRunning
        reportScan()
    }

    /// Reports the start or end of a requested scan.
    private func reportScan() {
        let isNow = scan.isWanted && scan.isRunning && state == .poweredOn
        guard isNow != scan.isReported else { return }
        scan.isReported = isNow
        onEvent?(.scanning(isNow))
    }
}

extension TagManager {
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

    /// Makes the next report of devices that share a tag's serial a new one, after the tag was paired or removed.
    func resetDuplicateReport(of row: TagRow) {
        let serial = row.identity.serial ?? row.identity.address.flatMap { sightings[$0]?.pairingSerialNumber }
        if let serial { sightings.resetReport(of: serial) }
    }

    /// Binds an address to the tag that it belongs to; see ``KnownAddresses`` for a tag that has an address already.
    private func find(_ tag: AdvertisedTag, at now: Instant) {
        if let driver = drivers[tag.identifier] { return driver.lastSign = now }
        // Tags with a fixed address are in `drivers`, so this one is identified by its serial.
        let identity = TagIdentity(serial: tag.pairingSerialNumber)
        guard let driver = rowsByIdentity[identity]?.driver else { return }
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
            central.perform(.disconnect(address))
            drivers[address] = nil
            pairable.remove(address)
            known[identity] = nil
        }
        log.debug(
            "found a tag", [(.tag, tag.pairingSerialNumber.description), (.address, tag.identifier.description)])
        driver.lastSign = now
        bind(driver, to: tag.identifier)
        driver.found(at: tag.identifier)
    }
}
