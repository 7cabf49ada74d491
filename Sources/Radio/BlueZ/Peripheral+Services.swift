import Bluetooth
import EventLoop
import Time

/// Discovery of services and characteristics.
extension Peripheral {
    /// Searches for characteristics of a service, and reports the result.
    func discover(_ service: BluetoothUUID, _ characteristics: [BluetoothUUID]) {
        searches.append(ServiceSearch(service, characteristics, timing: context.timing, now: .now))
        EventLoop.shared.atEndOfTurn { [weak self] in self?.continueSearches() }
    }

    /// Checks whether the requested characteristics are present now.
    func continueSearches() {
        guard isLinked, !searches.isEmpty, let path = device?.path else { return }
        let now = Instant.now
        var outcomes: [ServiceSearch.Outcome] = []
        var open: [ServiceSearch] = []
        for var search in searches {
            if let outcome = search.look(in: context.connection.tree, at: path, now: now) {
                outcomes.append(outcome)
            } else {
                open.append(search)
            }
        }
        searches = open
        checkSearches(at: open.map(\.deadline).min())
        // The handler of an event may end the link.
        for outcome in outcomes where isLinked { report(outcome) }
    }

    /// Sets when to check the searches again; nil if there is none.
    private func checkSearches(at deadline: Instant?) {
        guard let deadline else { return searchTimer = nil }
        let timer = searchTimer ?? LoopTimer { [weak self] in self?.continueSearches() }
        timer.arm(at: deadline)
        searchTimer = timer
    }

    private func report(_ outcome: ServiceSearch.Outcome) {
        switch outcome {
        case .found(let found):
            characteristics.merge(found.mapValues(\.path)) { $1 }
            context.report(.characteristicsDiscovered(address, found.mapValues(\.properties)))
        case .failed(let error): context.report(.discoveryFailed(address, error))
        }
    }
}
