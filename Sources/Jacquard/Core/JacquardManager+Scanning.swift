public import Bluetooth
import EventLoop
import JacquardProtocol

/// Why a scan cannot begin. Source: JacquardSDKiOS, `ManagerScanningError`.
public enum ManagerScanningError: Error, Hashable, Sendable {
    /// Bluetooth is not on; its state says why.
    case bluetoothUnavailable(CentralState)
}

/// What is wished of scanning, and how it stands.
struct ScanWish {
    /// What the central has been asked for.
    var asked: ScanOptions?
    /// Whether somebody wants to hear of tags, and not only a wanted tag is missing.
    var isWanted = false
    /// Whether the central scans.
    var isRunning = false
    /// Who has been told in the present scan; nil where everything is told.
    private var heard: Set<BluetoothAddress>? = []

    /// So many are told in one scan.
    private static let limit = 1000

    /// A scan is wished for.
    mutating func begin(allowsDuplicates: Bool) {
        heard = allowsDuplicates ? nil : []
        isWanted = true
    }

    /// Whether a tag that was heard is to be told: in a scan without duplicates once, else always. Who floods the air with
    /// made-up addresses fills no memory: behind the limit nothing is news.
    mutating func isNews(_ tag: AdvertisedTag) -> Bool {
        guard let count = heard?.count else { return true }
        guard count < Self.limit else { return false }
        return heard?.insert(tag.identifier).inserted == true
    }
}

extension JacquardManager {
    /// Scans for tags until ``stopScanning()``; each that is heard is told as ``Event/advertised(_:isNews:)`` and in
    /// ``advertisingTags``. A scan goes on by itself after Bluetooth was off. Source: JacquardSDKiOS,
    /// `startScanning(options:)`, and of its options `CBCentralManagerScanOptionAllowDuplicatesKey`; for the other one,
    /// solicited services, BlueZ has no counterpart.
    ///
    /// - Parameter allowsDuplicates: whether a tag is told every time it is heard, and not only once.
    /// - Throws: ``ManagerScanningError/bluetoothUnavailable(_:)`` while Bluetooth is not on.
    public func startScanning(allowsDuplicates: Bool = false) throws(ManagerScanningError) {
        guard state == .poweredOn else { throw .bluetoothUnavailable(state) }
        scan.begin(allowsDuplicates: allowsDuplicates)
        updateScan()
    }

    /// Ends the scan. Tags that are wanted and missing are still looked for. Source: JacquardSDKiOS, `stopScanning`.
    public func stopScanning() {
        scan.isWanted = false
        updateScan()
    }

    /// A tag was heard: whoever wants to hear of tags is told.
    func tellAdvertisement(_ tag: AdvertisedTag) {
        let isNews = scan.isNews(tag)
        onEvent?(.advertised(tag, isNews: isNews))
        if isNews, scan.isWanted { advertisements.send(tag) }
    }

    /// Scans while somebody wants a scan or a wanted tag is missing.
    func updateScan() {
        let isMissing = tags.values.contains(where: \.isLooking)
        let isWanted = state == .poweredOn && (isMissing || scan.isWanted)
        // Duplicates in any case: that a missing tag is heard again is what its connection waits for.
        let wanted = isWanted ? ScanOptions(service: JacquardGATT.service, allowsDuplicates: true) : nil
        if wanted != scan.asked {
            scan.asked = wanted
            central.perform(.scan(wanted))
        }
        tellScan()
    }

    /// The central says that it scans, or does not any more.
    func scanChanged(_ isRunning: Bool) {
        scan.isRunning = isRunning
        tellScan()
    }

    /// Tells when the scan that somebody wanted has begun or ended, whoever ended it.
    private func tellScan() {
        let isNow = scan.isWanted && scan.isRunning && state == .poweredOn
        guard isNow != scanStates.latest else { return }
        scanStates.send(isNow)
        onEvent?(.scanning(isNow))
    }
}
