import EventLoop
import Glibc
import TestSupport

/// Troubles that concern everybody, and their remedies.
extension Soak {
    private enum Trouble {
        case adapter, crashBlueZ, broker, brokerAtOnce, freeze, longFreeze, terminate, kill
    }

    private static let kinds: [(Int, Trouble)] = [
        (3, .adapter), (3, .crashBlueZ), (3, .broker), (3, .brokerAtOnce), (4, .freeze), (1, .longFreeze),
        (2, .terminate),
        (1, .kill),
    ]

    private var kinds: [(Int, Trouble)] {
        switch options.focus {
        case .freeze: [(4, .freeze), (1, .longFreeze)]
        case .stop: [(1, .terminate)]
        case .answers: []
        case nil: Self.kinds
        }
    }

    /// Makes a trouble.
    ///
    /// - Returns: the pause until the next one.
    func makeTrouble() async throws -> Duration {
        let now = ContinuousClock.now
        guard let kind = troubleRandom.pick(kinds) else { return pause(5...20) }
        note("trouble: \(kind)")
        switch kind {
        case .adapter:
            allUnrest(at: now)
            simulate("adapter off")
            later.add(.adapterOn, at: now + pause(0.3...5))
        case .crashBlueZ:
            let milliseconds = Int.random(in: 100...5000, using: &troubleRandom)
            allUnrest(at: now)
            simulate("crash-bluez \(milliseconds)")
            later.add(.blueZBack, at: now + .milliseconds(milliseconds + 200))
        case .broker: try await endBroker(for: pause(0.5...12), at: now)
        case .brokerAtOnce: try await endBroker(for: .zero, at: now)
        case .freeze: freeze(for: pause(0.2...6), at: now)
        case .longFreeze: freeze(for: pause(8...25), at: now)
        case .terminate: endDaemon(SIGTERM, at: now)
        case .kill: endDaemon(SIGKILL, at: now)
        }
        switch options.focus {
        // Shorter, so that there are many.
        case .freeze: return pause(5...20)
        case .stop: return pause(4...8)
        case .answers, nil: break
        }
        // Now and then the next one comes before this one is over.
        return troubleRandom.happens(percent: 20) ? pause(0.5...4) : pause(15...35)
    }

    private func pause(_ seconds: ClosedRange<Double>) -> Duration {
        .seconds(Double.random(in: seconds, using: &troubleRandom))
    }

    private func allUnrest(at now: ContinuousClock.Instant) {
        for tag in tags.keys {
            unrest(of: tag, at: now)
            tags[tag]?.openTroubles += 1
        }
    }

    private func allHealed(at now: ContinuousClock.Instant) {
        for tag in tags.keys {
            tags[tag]?.unrest = now
            tags[tag]?.openTroubles -= 1
        }
    }

    private func endBroker(for time: Duration, at now: ContinuousClock.Instant) async throws {
        guard troubles.isBrokerWell else { return }
        troubles.begin(.brokerEnded, at: now)
        try await stage.endBroker()
        later.add(.startBroker, at: now + time)
    }

    /// Freezes the broker, if nothing else happens to it while it has gestures in its queue.
    private func freeze(for time: Duration, at now: ContinuousClock.Instant) {
        guard options.focus == .freeze else { return freezeNow(for: time, at: now) }
        for tag in options.serials.shuffled(using: &troubleRandom).prefix(2) { gesture(tag, count: 400, rate: 400) }
        later.add(.freezeBroker(time), at: now + pause(0...0.2))
    }

    private func freezeNow(for time: Duration, at now: ContinuousClock.Instant) {
        guard troubles.isBrokerWell else { return }
        troubles.begin(.brokerFrozen, at: now)
        if options.focus == .freeze { standStill(for: 0.1...0.5) }
        stage.broker.daemon.signal(SIGSTOP)
        later.add(.thawBroker, at: now + time)
    }

    /// Blocks the loop, as on an overloaded host: the reader acknowledges nothing, so that gestures fill its queue in the
    /// broker.
    private func standStill(for seconds: ClosedRange<Double>) {
        usleep(UInt32(Double.random(in: seconds, using: &troubleRandom) * 1_000_000))
    }

    private func endDaemon(_ signal: Int32, at now: ContinuousClock.Instant) {
        guard !troubles.isOpen(.bridge) else { return }
        troubles.begin(.bridge, at: now)
        allUnrest(at: now)
        isBridgeEnding = true
        stage.daemon?.signal(signal)
        endOfDaemon = (signal, now)
        later.add(.startDaemon, at: now + pause(0.2...3))
    }

    // MARK: Remedies

    func remedy(_ remedy: Remedy) async throws {
        let now = ContinuousClock.now
        switch remedy {
        case .type(let line, let tag):
            simulate(line)
            tags[tag]?.unrest = now
            tags[tag]?.openTroubles -= 1
            // A tag that has lied may be left alone by the bridge only now.
            tags[tag]?.reasonUntil = now + .seconds(30)
        case .adapterOn:
            simulate("adapter on")
            allHealed(at: now)
        case .blueZBack: allHealed(at: now)
        case .startBroker:
            try await stage.startBroker()
            note("broker started")
            healing[.brokerEnded] = .now
        case .freezeBroker(let time): freezeNow(for: time, at: now)
        case .thawBroker:
            stage.broker.daemon.signal(SIGCONT)
            note("broker goes on")
            if options.focus == .freeze, troubleRandom.happens(percent: 50) { standStill(for: 0.5...3) }
            healing[.brokerFrozen] = .now
        case .startDaemon: try startAgain(at: now)
        }
    }

    /// Starts the daemon again when the one before has gone; a clean stop takes five seconds at most.
    private func startAgain(at now: ContinuousClock.Instant) throws {
        guard let (signal, since) = endOfDaemon, let daemon = stage.daemon else { return }
        guard let status = daemon.exitStatus else {
            if now > since + .seconds(6) {
                violated("the daemon does not end within six seconds")
                daemon.signal(SIGKILL)
            }
            later.add(.startDaemon, at: now + .milliseconds(100))
            return
        }
        if signal == SIGTERM, status != 0 { violated("the daemon's clean stop has status \(status)") }
        try stage.startDaemon()
        note("daemon started")
        endOfDaemon = nil
        isBridgeEnding = false
        healing[.bridge] = .now
        allHealed(at: now)
    }
}
