import Bluetooth
import Bridge
import Configuration
import EventLoop
import Logging

/// Stores the instance names under which this bridge has run, so that the topics of former ones can be cleared, and the
/// adapter that is being reset, so that the next process switches it on if this one is killed.
@LoopActor
final class RunStore {
    private let folder: StateFolder
    private let log: Logger
    private var runs = StoredRuns()
    /// The places at which earlier runs have published.
    private(set) var formerPlaces: [PublishedPlace] = []
    /// The `boot` values of the latest starts under the present name.
    private(set) var boots: [String] = []
    private var isStartKept = true
    /// A file of another release is not overwritten.
    private var mayWrite = true

    init(_ folder: StateFolder, log: Logger) {
        self.folder = folder
        self.log = log.with(.endpoint, folder.path)
    }

    /// Reads the file and adds a start, which ``keepStart()`` stores.
    ///
    /// - Returns: the former names; none if the file cannot be read.
    func begin(_ instance: String, boot: String, at place: PublishedPlace? = nil) async -> [FormerInstance] {
        let folder = folder
        let obstacle: String?
        (runs, obstacle) = await HelperThread.shared.run(.state) { folder.loadRuns() }
        if let obstacle {
            mayWrite = false
            log.error("cannot read the names of former runs, and will not write them", [(.error, obstacle)])
        }
        formerPlaces = runs.places.map(\.published)
        runs.started(instance, boot: boot)
        boots = runs.instances.first?.boots ?? []
        if let place { runs.published(at: StoredRuns.Place(place)) }
        isStartKept = false
        return runs.instances.filter { $0.name != instance }.map { FormerInstance(name: $0.name, boots: $0.boots) }
    }

    /// Stores the start if it is not stored yet. The bridge does not wait for it: a card may take long to write.
    func keepStart() async {
        guard !isStartKept else { return }
        await save()
    }

    /// Stores a place before the bridge publishes there.
    ///
    /// - Parameters:
    ///   - place: the place.
    ///   - isTakenBack: whether announcements of the same bridge elsewhere are withdrawn.
    func published(at place: PublishedPlace, isTakenBack: Bool) {
        let place = StoredRuns.Place(place)
        guard runs.places.first != place else { return }
        if isTakenBack { runs.places.removeAll { $0.instance == place.instance && $0.base == place.base } }
        runs.published(at: place)
        EventLoop.shared.begin { await self.save() }
    }

    /// Removes all places but the present one, which is the first.
    func forgetFormerPlaces() {
        runs.places = Array(runs.places.prefix(1))
        EventLoop.shared.begin { await self.save() }
    }

    /// Removes a former name whose topics have been cleared.
    func forget(_ instance: String) {
        runs.instances.removeAll { $0.name == instance }
        EventLoop.shared.begin { await self.save() }
    }

    /// The address of the adapter whose reset was interrupted.
    var switchedOff: String? { runs.switchedOff }

    /// Stores the adapter that is being reset; nil when it is on again.
    func reset(_ address: String?) async {
        guard address != runs.switchedOff else { return }
        runs.switchedOff = address
        await save()
    }

    /// The last known bonds of proxies.
    var proxyBonds: ProxyBonds { runs.proxyBonds ?? ProxyBonds() }

    /// Stores the bonds of a proxy.
    func keep(_ bonds: Set<BluetoothAddress>, of radio: String, controller: BluetoothAddress? = nil) {
        var all = proxyBonds
        all.set(bonds, of: radio, controller: controller)
        guard all != proxyBonds else { return }
        runs.proxyBonds = all
        EventLoop.shared.begin { await self.save() }
    }

    private func save() async {
        guard mayWrite else { return }
        let (folder, runs) = (folder, runs)
        let failure = await HelperThread.shared.failure(.state) { () throws(FileError) in
            try folder.save(runs)
        }
        isStartKept = true
        if let failure { log.warning("cannot remember the name of this bridge", [(.error, failure.reason)]) }
    }
}
