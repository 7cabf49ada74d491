public import Bluetooth
import EventLoop
import JacquardProtocol

/// Why a scan cannot begin. Source: JacquardSDKiOS, `ManagerScanningError`.
public enum ManagerScanningError: Error, Hashable, Sendable {
    /// Bluetooth is not on; its state says why.
    case bluetoothUnavailable(CentralState)
}

extension JacquardManager {
    /// Scans for tags until ``stopScanning()``; each that is heard is told as ``Event/advertised(_:)``.
    ///
    /// - Parameter allowsDuplicates: whether a tag is told every time it is heard, and not only once.
    /// - Throws: ``ManagerScanningError/bluetoothUnavailable(_:)`` while Bluetooth is not on.
    public func startScanning(allowsDuplicates: Bool = false) throws(ManagerScanningError) {
        guard centralState == .poweredOn else { throw .bluetoothUnavailable(centralState) }
        heardInScan = allowsDuplicates ? nil : []
        isScanWanted = true
        updateScan()
    }

    /// Ends the scan. Tags that are wanted and missing are still looked for.
    public func stopScanning() {
        isScanWanted = false
        updateScan()
    }

    /// Whether a tag that was heard is told: in a scan without duplicates once, else always. Who floods the air with made-up
    /// addresses fills no memory: behind the first thousand nothing is news.
    func isNews(_ tag: AdvertisedTag) -> Bool {
        guard let heard = heardInScan else { return true }
        guard heard.count < 1000 else { return false }
        return heardInScan?.insert(tag.identifier).inserted ?? true
    }

    /// Scans while somebody wants a scan or a wanted tag is missing.
    func updateScan() {
        let isMissing = tags.values.contains(where: \.isLooking)
        let isWanted = centralState == .poweredOn && (isMissing || isScanWanted)
        // Duplicates in any case: that a missing tag is heard again is what its connection waits for.
        let wanted = isWanted ? ScanOptions(service: JacquardGATT.service, allowsDuplicates: true) : nil
        if wanted != scan {
            scan = wanted
            central.perform(.scan(wanted))
        }
        tellScan()
    }

    /// Tells when the scan that somebody wanted has begun or ended, whoever ended it.
    func tellScan() {
        let isNow = isScanWanted && isCentralScanning && centralState == .poweredOn
        guard isNow != isScanning else { return }
        isScanning = isNow
        onEvent?(.scanning(isNow))
    }
}
