public import Bluetooth
import EventLoop
import JacquardProtocol

/// An error of ``JacquardManager/startScanning(allowsDuplicates:)``. Source: JacquardSDKiOS, `ManagerScanningError`.
public enum ManagerScanningError: Error, Hashable, Sendable {
    /// Bluetooth is not on. The value is its state.
    case bluetoothUnavailable(CentralState)
}

/// Desired and actual scan state.
struct RequestedScan {
    /// The options last requested from the central.
    var requested: ScanOptions?
    /// Whether the caller has started a scan. The search for missing tags does not count.
    var isWanted = false
    /// Whether the central scans.
    var isRunning = false
    /// The addresses reported during this scan; nil in a scan with duplicates.
    private var reported: Set<BluetoothAddress>? = []

    /// Upper bound on addresses reported in one scan without duplicates. Made-up addresses can't grow the set
    /// further.
    private static let limit = 1000

    /// Starts a scan.
    mutating func begin(allowsDuplicates: Bool) {
        reported = allowsDuplicates ? nil : []
        isWanted = true
    }

    /// Whether to report a received advertisement: each in a scan with duplicates, otherwise one per address up to
    /// the limit.
    mutating func isNew(_ tag: AdvertisedTag) -> Bool {
        guard let count = reported?.count else { return true }
        guard count < Self.limit else { return false }
        return reported?.insert(tag.identifier).inserted == true
    }
}

extension JacquardManager {
    /// Scans for tags until ``stopScanning()``. Tags are reported as ``Event/advertised(_:isNew:)`` and in
    /// ``advertisingTags``.
    ///
    /// The scan resumes after Bluetooth was off. Source: JacquardSDKiOS, `startScanning(options:)`. Of its options,
    /// `CBCentralManagerScanOptionAllowDuplicatesKey` is supported; BlueZ has no counterpart for solicited
    /// services.
    ///
    /// - Parameter allowsDuplicates: whether each advertisement is reported, instead of one per tag.
    /// - Throws: ``ManagerScanningError/bluetoothUnavailable(_:)`` while Bluetooth is not on.
    public func startScanning(allowsDuplicates: Bool = false) throws(ManagerScanningError) {
        guard state == .poweredOn else { throw .bluetoothUnavailable(state) }
        scan.begin(allowsDuplicates: allowsDuplicates)
        updateScan()
    }

    /// Stops the scan. The search for missing tags continues. Source: JacquardSDKiOS, `stopScanning`.
    public func stopScanning() {
        scan.isWanted = false
        updateScan()
    }

    /// Reports an advertisement of a tag.
    func reportAdvertisement(_ tag: AdvertisedTag) {
        let isNew = scan.isNew(tag)
        onEvent?(.advertised(tag, isNew: isNew))
        if isNew, scan.isWanted { advertisements.send(tag) }
    }

    /// Scans while a scan is requested or a tag that is to be connected is missing.
    func updateScan() {
        let isMissing = tags.values.contains(where: \.isLooking)
        let isWanted = state == .poweredOn && (isMissing || scan.isWanted)
        // Always with duplicates: the connection of a missing tag waits for its next advertisement.
        let wanted = isWanted ? ScanOptions(service: JacquardGATT.service, allowsDuplicates: true) : nil
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
        guard isNow != scanStates.latest else { return }
        scanStates.send(isNow)
        onEvent?(.scanning(isNow))
    }
}
