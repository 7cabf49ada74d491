import EventLoop
import Glibc
import TestSupport

/// From the first connection to the report.
extension Soak {
    /// Runs to the end.
    ///
    /// - Returns: whether no rule was broken.
    func run() async throws -> Bool {
        print("seed \(options.seed), \(options.minutes) minutes, \(options.tags) tags, log \(stage.log)")
        try stage.startDaemon()
        troubles.begin(.bridge, at: started)
        healing[.bridge] = started
        for tag in tags.keys { troubles.begin(.tag(tag), at: started) }
        try await passTime(until: "all tags are connected", within: .seconds(60)) { self.isAllWell }
        let before = stage.daemon.flatMap { ProcessFigures(of: $0.identifier) }
        let first = stage.daemon?.identifier
        try await makeTroubles(until: .now + .seconds(options.minutes * 60))
        try await drain()
        let after = stage.daemon.flatMap { ProcessFigures(of: $0.identifier) }
        isEnding = true
        try await stage.endDaemon()
        try await compareReplay()
        report(before, after, isSameProcess: first == stage.daemon?.identifier)
        await reader.stop()
        await witness.stop()
        await stage.end()
        return violations.isEmpty
    }

    private var isAllWell: Bool {
        troubles.isBrokerWell && !troubles.isOpen(.bridge) && !tags.keys.contains { troubles.isOpen(.tag($0)) }
    }

    private func makeTroubles(until end: ContinuousClock.Instant) async throws {
        var nextTrouble = ContinuousClock.now + .seconds(10)
        var nextLine = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < end, !isInterrupted {
            play()
            // Calm and storm in turn.
            let longest = random.happens(percent: 5) ? 400 : 60
            try await passTime(.milliseconds(Int.random(in: 1...longest, using: &random)))
            if ContinuousClock.now > nextTrouble { nextTrouble = .now + (try await makeTrouble()) }
            if ContinuousClock.now > nextLine {
                nextLine += .seconds(10)
                printProgress()
            }
        }
    }

    /// Ends all faults and waits until nothing is pending.
    private func drain() async throws {
        note("draining")
        isDraining = true
        for serial in options.serials { simulate("fault \(serial) clear") }
        for item in later.takeAll() { try await remedy(item) }
        try await passTime(until: "everything is well again", within: .seconds(180)) { self.isAllWell }
        try await passTime(until: "every command has ended", within: .seconds(90)) {
            self.commands.areAllAnswered(self.troubles, at: .now)
        }
        // Statistics come once a second at most, and a doubled result may still be on its way.
        try await passTime(.seconds(10))
        gestures.review(troubles, at: .now).forEach(violated)
        commands.review(troubles, isEnd: true, at: .now).forEach(violated)
        gestures.close(troubles, at: .now).forEach(violated)
        compareFacts(await truth())
    }

    private func truth() async -> [SimulatorLine] {
        simulate("list")
        try? await passTime(.seconds(1))
        return options.serials.compactMap { tags[$0]?.truth }
    }

    /// What the broker has is what the tags are.
    private func compareFacts(_ truth: [SimulatorLine]) {
        if truth.count != options.tags { violated("the simulator does not tell its tags") }
        for line in truth {
            guard let tag = line.tag, let view = tags[tag] else { continue }
            if line.state != "connected" || !view.looksWell { violated("\(tag) is \(line.state ?? "?") at the end") }
            if view.battery?.level != line.battery || view.battery?.charging != line.charging {
                violated(
                    "the battery of \(tag) is published as \(view.battery?.level ?? -1), and is \(line.battery ?? -1)")
            }
            if (line.gear != nil) != (view.gear?.attached == true) {
                violated("the gear of \(tag) is published wrongly")
            }
        }
    }

    // MARK: Time

    private func passTime(
        until what: String, within limit: Duration, _ condition: () -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while !condition() {
            guard .now < deadline, stage.simulator?.isRunning == true else {
                violated("not within \(limit.inSeconds) s: \(what)")
                return
            }
            try await passTime(.milliseconds(20))
        }
    }

    /// Lets time pass and does what is due meanwhile.
    private func passTime(_ time: Duration) async throws {
        let end = ContinuousClock.now + time
        repeat {
            for item in later.takeDue(at: .now) { try await remedy(item) }
            let now = ContinuousClock.now
            probe(at: now)
            if now > nextReview { review(at: now) }
            await pause(for: min(max(end - now, .milliseconds(1)), .milliseconds(20)))
        } while ContinuousClock.now < end
    }

    private func review(at now: ContinuousClock.Instant) {
        nextReview = now + .milliseconds(500)
        careForTags(at: now)
        if now > nextListing {
            nextListing = now + .seconds(2)
            compareModes(at: now)
        }
        gestures.review(troubles, at: now).forEach(violated)
        commands.review(troubles, isEnd: false, at: now).forEach(violated)
        if !isBridgeEnding, let status = stage.daemon?.exitStatus {
            violated("the daemon has ended with status \(status)")
            endOfDaemon = (0, now)
            isBridgeEnding = true
            troubles.begin(.bridge, at: now - .seconds(1))
            later.add(.startDaemon, at: now)
        }
        if stage.simulator?.isRunning != true, !isInterrupted {
            violated("the simulator has ended")
            isInterrupted = true
        }
    }

    private func pause(for time: Duration) async {
        await withCheckedContinuation { continuation in
            var timer: LoopTimer?
            timer = LoopTimer {
                _ = timer
                timer = nil
                continuation.resume()
            }
            timer?.arm(after: time)
        }
    }
}
