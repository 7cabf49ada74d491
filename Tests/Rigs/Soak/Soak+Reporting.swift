import EventLoop
import Glibc

/// The output of the soak.
extension Soak {
    func printProgress() {
        let well = tags.keys.filter { !troubles.isOpen(.tag($0)) }.count
        let figures = stage.daemon.flatMap { ProcessFigures(of: $0.identifier) }
        print(
            """
            \((ContinuousClock.now - started).inSeconds) s: gestures \(gestures.made) made \(gestures.arrived) arrived, \
            commands \(commands.made) made, \(commands.open) open, tags well \(well)/\(tags.count), \
            \(figures.map { "\($0)" } ?? "daemon away"), violations \(violations.count)
            """)
        fflush(nil)
    }

    func report(_ before: ProcessFigures?, _ after: ProcessFigures?, isSameProcess: Bool) {
        if let before, let after, after.descriptors > before.descriptors + 5 {
            violated("descriptors have grown from \(before.descriptors) to \(after.descriptors)")
        }
        let counts = commands.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print(
            """

            seed \(options.seed), \((ContinuousClock.now - started).inSeconds) s
            gestures: made \(gestures.made), delivered \(gestures.arrived), expired \(gestures.missing.expired) \
            (and \(gestures.missing.delivered) of the delivered ones), discarded by the broker \
            \(gestures.missing.discarded), lost with an ended broker \(gestures.missing.lostWithBroker), \
            lost at a tag in trouble \(gestures.lostAtTag), repeated \(gestures.repeated), \
            reordered by the broker \(gestures.reordered), latest after \(gestures.latest.inSeconds) s
            commands: made \(commands.made), answered once \(commands.answeredOnce), again \(commands.answeredAgain), \
            never \(commands.neverAnswered), not taken by the broker \(commands.unacknowledged), \
            slowest \(commands.slowest.inSeconds) s
            outcomes: \(counts.joined(separator: ", "))
            troubles: broker ended \(troubles.count(of: .brokerEnded)), frozen \(troubles.count(of: .brokerFrozen)), \
            daemon ended \(troubles.count(of: .bridge) - 1), \
            of tags \(tags.keys.reduce(0) { $0 + troubles.count(of: .tag($1)) - 1 })
            published touch modes: wrong for \(longestWrongMode.inSeconds) s at most
            replayed: \(record.count) events, of which \(record.unpublished) were never received; \
            \(record.unwritten) received ones were not recorded before the bridge was killed, or not fast enough
            daemon at the start: \(before.map { "\($0)" } ?? "-")
            daemon at the end:   \(after.map { "\($0)" } ?? "-")\(isSameProcess ? "" : " (another process)")
            broken rules: \(violations.count)
            """)
        violations.prefix(50).forEach { print("  \($0)") }
        if !violations.isEmpty {
            print("last events:\n" + history.suffix(60).map { "  \($0)" }.joined(separator: "\n"))
            print("the daemon's log:\n" + stage.logTail(6000))
        }
        fflush(nil)
    }
}
