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

    init(_ folder: StateFolder, log: Logger) {
        self.folder = folder
        self.log = log.with(.endpoint, folder.path)
    }

    /// Stores a start.
    ///
    /// - Returns: the former names; none if the file cannot be read.
    func begin(_ instance: String, boot: String) async -> [FormerInstance] {
        let folder = folder
        runs = await HelperThread.shared.run(.state) { folder.loadRuns() }
        runs.started(instance, boot: boot)
        await save()
        return runs.instances.filter { $0.name != instance }.map { FormerInstance(name: $0.name, boots: $0.boots) }
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
        let (folder, runs) = (folder, runs)
        let failure = await HelperThread.shared.failure(.state) { () throws(FileError) in
            try folder.save(runs)
        }
        if let failure { log.warning("cannot remember the name of this bridge", [(.error, failure.reason)]) }
    }
}
