import EventLoop
import Foundation
import MQTTTypes

/// Handles the output of the simulator and the messages of the broker.
extension Soak {
    // MARK: The simulator

    func simulatorSaid(_ line: SimulatorLine) {
        let now = ContinuousClock.now
        switch line.event {
        case "ok": if let command = line.command { carriedOut(command, at: now) }
        case "error": if let command = line.command { refused(command) }
        case "burst": burstEnded(line, at: now)
        case "disconnected": if let tag = line.tag { linkBroke(tag, at: now) }
        case "connected", "subscribed": if let tag = line.tag { tags[tag]?.unrest = now }
        case "tag": if let tag = line.tag { tags[tag]?.truth = line }
        default: break
        }
    }

    /// The tag and the number of a gesture's line.
    private func gesture(_ command: String) -> (tag: String, number: UInt32)? {
        let words = command.split(separator: " ")
        guard words.count > 2, words[0] == "gesture", let number = UInt32(words[2]) else { return nil }
        return (String(words[1]), number)
    }

    private func carriedOut(_ command: String, at now: ContinuousClock.Instant) {
        guard let (tag, number) = gesture(command) else { return }
        tags[tag]?.unanswered.removeAll { $0 == number }
        if gestures.isBurst(number) {
            if !gestures.isDone(number) { tags[tag]?.burst = number }
        } else {
            gestures.done(number, sent: 1, at: now)
        }
    }

    private func refused(_ command: String) {
        guard let (tag, number) = gesture(command) else { return }
        tags[tag]?.unanswered.removeAll { $0 == number }
        gestures.refused(number)
    }

    /// The end of a short burst is reported before the reply to the line that began it.
    private func burstEnded(_ line: SimulatorLine, at now: ContinuousClock.Instant) {
        guard let tag = line.tag, let sent = line.sent else { return }
        let number = tags[tag]?.burst ?? tags[tag]?.unanswered.first { gestures.isBurst($0) }
        tags[tag]?.burst = nil
        guard let number else { return }
        gestures.done(number, sent: sent - (line.dropped ?? 0), at: now)
    }

    private func linkBroke(_ tag: String, at now: ContinuousClock.Instant) {
        note("link of \(tag) broke")
        guard !isEnding, let view = tags[tag] else { return }
        let hasReason =
            view.openTroubles > 0 || now < view.reasonUntil || troubles.isOpen(.bridge)
            || troubles.touch(.tag(tag), now - .seconds(1), now)
        if !hasReason { violated("the link of \(tag) broke without a reason") }
        unrest(of: tag, at: now)
    }

    /// Something is wrong with a tag, at least for a moment.
    func unrest(of tag: String, at now: ContinuousClock.Instant) {
        tags[tag]?.unrest = now
        troubles.begin(.tag(tag), at: now)
    }

    // MARK: The broker

    func received(_ message: MQTTMessage) {
        let now = ContinuousClock.now
        let levels = message.topic.split(separator: "/").map(String.init)
        switch (levels.first, levels.count > 1 ? levels[1] : "") {
        case (Self.replayBase, _): receivedFromReplay(levels, message)
        case ("jacquard", "tag") where levels.count >= 4:
            record.received(levels[1...].joined(separator: "/"), message.payload, at: now)
            receivedFromTag(levels[2], levels[3...].joined(separator: "/"), message, now)
        case ("jacquard", "bridge") where levels.count >= 4:
            receivedFromBridge(levels[3...].joined(separator: "/"), message, now)
        case ("soak", "answer"): answered(onResponseTopic: message, at: now)
        default: break
        }
    }

    private func receivedFromTag(_ tag: String, _ topic: String, _ message: MQTTMessage, _ now: ContinuousClock.Instant)
    {
        let payload = message.payload
        let text = String(decoding: payload, as: UTF8.self)
        switch topic {
        case "gesture": receivedGesture(tag, payload, now)
        case "stats": decoded(StatsDocument.self, payload).map { gestures.received($0, of: tag, at: now) }
        case "availability": tags[tag]?.isAvailable = text == "online"
        case "connection":
            tags[tag]?.connection = decoded(ConnectionDocument.self, payload)?.state
        case "gear": tags[tag]?.gear = decoded(GearDocument.self, payload)
        case "battery": tags[tag]?.battery = decoded(BatteryDocument.self, payload)
        case "touch_mode": tags[tag]?.touchMode = text
        case _ where topic.hasSuffix("/result"): receivedResult(message, now)
        default: break
        }
    }

    private func receivedGesture(_ tag: String, _ payload: [UInt8], _ now: ContinuousClock.Instant) {
        guard let document = decoded(GestureDocument.self, payload) else {
            return violated("not a gesture: \(String(decoding: payload, as: UTF8.self))")
        }
        let age = Date().timeIntervalSince(Self.date(document.time) ?? Date())
        if let violation = gestures.received(document, of: tag, age: .seconds(age), troubles, at: now) {
            violated(violation)
        }
    }

    /// The broker has taken a message about a tag from the bridge.
    func witnessed(_ message: MQTTMessage) {
        let levels = message.topic.split(separator: "/").map(String.init)
        guard levels.count >= 4 else { return }
        record.published(levels[1...].joined(separator: "/"), message.payload, at: .now)
        guard levels[3...] == ["gesture"], let document = decoded(GestureDocument.self, message.payload) else { return }
        if let violation = gestures.taken(document, of: levels[2], at: .now) { violated(violation) }
    }

    /// A connection of the checker has ended, which is right only when the broker has.
    func lost(_ name: String) {
        note("the \(name) lost its connection")
        if !troubles.isOpen(.brokerEnded), !isEnding { violated("the \(name) lost its connection") }
    }

    static func date(_ text: String) -> Date? {
        try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
    }

    private func receivedFromBridge(_ topic: String, _ message: MQTTMessage, _ now: ContinuousClock.Instant) {
        switch topic {
        case "state":
            let state = String(decoding: message.payload, as: UTF8.self)
            note("bridge \(state)")
            let isWell = !troubles.isOpen(.bridge) && !troubles.touchBroker(now - .seconds(15), now)
            if state == "offline", isWell, !isEnding { violated("the bridge went offline without a reason") }
        case _ where topic.hasPrefix("response/"): receivedResult(message, now)
        default: break
        }
    }

    private func receivedResult(_ message: MQTTMessage, _ now: ContinuousClock.Instant) {
        guard let document = decoded(ResultDocument.self, message.payload) else {
            return violated("not a result: \(String(decoding: message.payload, as: UTF8.self))")
        }
        guard document.final else { return }
        if let id = document.id, let asked = probes.removeValue(forKey: id) { return proved(since: asked, at: now) }
        guard document.id != nil || isNew(message, at: now) else { return }
        let number = document.id.flatMap { Int($0.split(separator: "-").last ?? "") }
        let match = document.id == nil ? commands.anonymous(resultTopic: message.topic, document, at: now) : number
        guard let match else {
            if document.id == nil, !troubles.touchBroker(now - .seconds(80), now) {
                violated("a result without a command on \(message.topic)")
            }
            return
        }
        if let violation = commands.answered(match, document, at: now) { violated(violation) }
    }

    /// Results without an id are distinguished by their bytes: what was not acknowledged before a connection broke is sent
    /// again as it was.
    private func isNew(_ message: MQTTMessage, at now: ContinuousClock.Instant) -> Bool {
        let text = message.topic + String(decoding: message.payload, as: UTF8.self)
        if let known = anonymousResults.updateValue(now, forKey: text) {
            return !troubles.touchBroker(known - .seconds(10), now)
        }
        return true
    }

    private func answered(onResponseTopic message: MQTTMessage, at now: ContinuousClock.Instant) {
        guard let document = decoded(ResultDocument.self, message.payload), document.final else { return }
        let number = message.correlationData.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard let number else { return violated("an answer without correlation data") }
        if let violation = commands.answered(number, document, at: now) { violated(violation) }
    }

    /// The bridge has answered a question: what was healed before it is well.
    private func proved(since asked: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
        for (part, healed) in healing where healed < asked {
            healing[part] = nil
            troubles.end(part, at: now)
            note("\(part) is well again")
        }
    }
}
