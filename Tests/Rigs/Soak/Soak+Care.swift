import EventLoop
import MQTTTypes

/// Looks whether what was put right is well again.
extension Soak {
    /// Asks the bridge whether it is there, while something heals.
    func probe(at now: ContinuousClock.Instant) {
        guard !healing.isEmpty, reader.isConnected, now > lastProbe + .milliseconds(300) else { return }
        lastProbe = now
        let id = "probe-x\(nextCommand)"
        nextCommand += 1
        probes[id] = now
        let payload = Array(#"{"id":"\#(id)"}"#.utf8)
        reader.publish(
            MQTTMessage(topic: "jacquard/bridge/attic/request/health", payload: payload, qos: .atLeastOnce), number: 0)
    }

    /// Looks which tags are well again, and undoes what commands have done to them.
    func careForTags(at now: ContinuousClock.Instant) {
        guard troubles.isBrokerWell, !troubles.isOpen(.bridge) else {
            for tag in tags.keys { tags[tag]?.overdueSince = nil }
            return
        }
        for (tag, view) in tags where troubles.isOpen(.tag(tag)) && view.openTroubles <= 0 {
            guard now > view.unrest + .seconds(3) else { continue }
            if view.looksWell, view.hazards.isEmpty {
                troubles.end(.tag(tag), at: now)
                tags[tag]?.overdueSince = nil
                tags[tag]?.reasonUntil = max(view.reasonUntil, now + .seconds(2))
            } else if !view.hazards.isEmpty {
                // Not before the command that did it has run out.
                if !commands.owes(tag, troubles, at: now) || now > view.unrest + .seconds(60) {
                    undo(view.hazards, of: tag, at: now)
                }
            } else {
                note(overdue: tag, view, at: now)
            }
        }
    }

    /// Compares the touch modes that the broker has with those of the tags, as the simulator listed them before.
    func compareModes(at now: ContinuousClock.Instant) {
        let canCompare = troubles.isBrokerWell && !troubles.isOpen(.bridge)
        for (tag, view) in tags {
            let isLinked = view.truth?.state == "connected" && view.connection == "connected" && view.isAvailable
            guard canCompare, isLinked, let mode = view.truth?.touchMode, mode != view.touchMode else {
                tags[tag]?.wrongModeSince = nil
                continue
            }
            guard let since = view.wrongModeSince else {
                tags[tag]?.wrongModeSince = now
                continue
            }
            longestWrongMode = max(longestWrongMode, now - since)
            guard now > since + .seconds(30) else { continue }
            tags[tag]?.wrongModeSince = nil
            violated("the touch mode of \(tag) was published as \(view.touchMode ?? "nothing") for 30 s; it is \(mode)")
        }
        simulate("list")
    }

    private func undo(_ hazards: Set<TagView.Hazard>, of tag: String, at now: ContinuousClock.Instant) {
        tags[tag]?.hazards = []
        tags[tag]?.unrest = now
        tags[tag]?.reasonUntil = now + .seconds(30)
        for hazard in hazards {
            switch hazard {
            case .asleep: simulate("button \(tag)")
            case .held: publishRemedy("jacquard/tag/\(tag)/connection/set", "connect")
            case .continuous: publishRemedy("jacquard/tag/\(tag)/touch_mode/set", "gesture")
            case .renamed: break
            }
        }
    }

    private func publishRemedy(_ topic: String, _ payload: String) {
        let number = nextCommand
        nextCommand += 1
        note("remedy \(number) \(topic) \(payload)")
        commands.published(
            CommandLedger.Entry(
                number: number, topic: topic, payload: payload, published: .now, expected: 1, timeToLive: .seconds(10),
                isGood: false, isAnonymous: true, tag: nil))
        reader.publish(MQTTMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce), number: number)
    }

    /// A tag without a simulated fault must reconnect.
    private func note(overdue tag: String, _ view: TagView, at now: ContinuousClock.Instant) {
        guard let since = view.overdueSince else {
            tags[tag]?.overdueSince = now
            return
        }
        guard now > since + .seconds(120) else { return }
        tags[tag]?.overdueSince = now
        violated(
            "\(tag) is not well after \((now - since).inSeconds) s: \(view.connection ?? "nothing"), "
                + "available \(view.isAvailable), gear \(view.gear?.attached ?? false), \(view.touchMode ?? "no mode")")
    }
}
