import HomeAssistant
import JSON
import JacquardProtocol
import Time

/// Lets a tag and its gear blink and vibrate until it is found: until a gesture, `stop`, or the end of the time.
///
/// `T/find` is published since the first search, and always while Home Assistant discovery is on.
struct Find: TagFeature {
    static let topic = TopicRow("find", .fact, while: .feature, isRecorded: true) { document in
        document == "on" ? "blinks until it is found" : "does not blink"
    }
    static let topics = [topic]
    static let commands: [any TagRequest.Type] = [FindSet.self]
    static let storedKey: String? = "find"
    static let commandLines = [
        TagCommandLine(
            name: "find", summary: "let tags blink and vibrate until they are found",
            details: ["The blinking ends with the next gesture of the tag, with stop, or in time."],
            operand: TagCommandLine.Operand(name: "STATE", key: "find", words: ["start", "stop"], standard: "start"),
            number: TagCommandLine.Number(
                name: "--for", key: "for_s", unit: .seconds, range: FindSet.seconds, words: ["start"],
                details: "How long the tag blinks, \(FindSet.seconds.lowerBound) to \(FindSet.seconds.upperBound) "
                    + "(default: \(FindSet.standardSeconds))."),
            examples: ["find 003R", "find 003R --for 300", "find 003R stop"]
        ) { payload in
            guard payload["find"] != "stop" else { return "stopped" }
            return "blinks for \(payload["for_s"]?.integer ?? Int64(FindSet.standardSeconds)) s, or until it is touched"
        }
    ]

    static func entities(_ options: BridgeOptions?) -> [FeatureEntity] {
        // A switch and not a button of the class `identify`, which cannot stop it.
        let find = Entity(
            "find", "Find", .switch("find", "{{ value | upper }}", command: FindSet.name, on: "start", off: "stop"),
            category: .config, icon: "mdi:map-marker-radius")
        return [FeatureEntity(find, of: .tag)]
    }

    private struct Search {
        let until: Instant
        var nextRound: Instant
        /// When the tag stops blinking by itself.
        var end: Instant { min(until, nextRound) }
    }

    /// Whether the tag was ever searched for.
    private var wasSearched: Bool
    private var isAnnounced: Bool
    private var search: Search?

    init(stored: JSONValue?, _ options: BridgeOptions, isAnnounced: Bool) {
        (wasSearched, self.isAnnounced) = (stored?.flag == true, isAnnounced)
    }

    var stored: JSONValue? { wasSearched ? true : nil }
    var deadline: Instant? { search?.end }
    var isActive: Bool { search != nil }
    var setsLight: Bool { search != nil }

    func facts(_ topics: TagTopics) -> [Publication] {
        wasSearched || isAnnounced ? [.fact(topics[Self.topic], word: search == nil ? "off" : "on")] : []
    }

    mutating func handle(
        _ event: FeatureEvent, of tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) {
        switch event {
        case .ordered(let order as FindOrder, let hasCancelled):
            switch order {
            case .start(let duration): start(of: &tag, for: duration, at: now.instant, &effects)
            case .stop: end(of: &tag, isStarting: hasCancelled, &effects)
            }
        case .gesture, .removed: end(of: &tag, &effects)
        case .linkEnded:
            // The tag blinks for the rest of a round.
            if let search { changed(of: &tag, to: nil, blinkingUntil: search.end, &effects) }
        case .stopping: if search != nil { changed(of: &tag, to: nil, &effects) }
        case .deadline: goOn(of: &tag, at: now.instant, &effects)
        case .announced(let isAnnounced):
            guard isAnnounced != self.isAnnounced else { return }
            self.isAnnounced = isAnnounced
            effects.publish(facts(tag.topics))
        default: break
        }
    }
}

extension Find {
    /// How long the tag blinks after one command. A new one follows, because other commands interrupt the blinking, and gear may be
    /// attached meanwhile.
    private static let round = LEDState.longestBlinking

    /// Lets a tag blink, whose first round has begun, or go on for another time.
    private mutating func start(
        of tag: inout TagMirror, for duration: Duration, at now: Instant, _ effects: inout Effects
    ) {
        let search = Search(until: now + duration, nextRound: now + Self.round)
        changed(of: &tag, to: search, &effects)
        wasSearched = true
        tag.perform(Self.gearCommands(tag, for: min(duration, Self.round)), &effects)
    }

    /// Ends the blinking.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - isStarting: whether the command to blink was sent just now, and no fact says so yet.
    ///   - effects: gets the commands and the publications.
    private mutating func end(
        of tag: inout TagMirror, isStarting: Bool = false, _ effects: inout Effects
    ) {
        guard search != nil || isStarting else { return }
        tag.perform(Self.endCommands(tag), &effects)
        changed(of: &tag, to: nil, &effects)
    }

    /// Begins the next round, or ends in time. Another pattern of the LED goes on.
    private mutating func goOn(of tag: inout TagMirror, at now: Instant, _ effects: inout Effects) {
        guard var search, search.end <= now else { return }
        guard search.until > now else {
            if tag.lights.tag.isBlinking { tag.lightChanged(&effects) { $0.turnOff() } }
            return changed(of: &tag, to: nil, blinkingUntil: now, &effects)
        }
        let duration = min(Self.round, search.until - now)
        search.nextRound = now + Self.round
        self.search = search
        let light = TagCommand.playLEDPattern(.finding(for: duration), on: .tag)
        tag.perform([light] + Self.gearCommands(tag, for: duration), &effects)
        tag.lightChanged(&effects) { $0.blinks() }
    }

    /// Handles the begin or the end of the blinking, which takes the LED from other patterns.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - new: the search; nil for none.
    ///   - end: when the tag stops by itself; nil if a command halts all patterns.
    ///   - effects: gets the publications.
    private mutating func changed(
        of tag: inout TagMirror, to new: Search?, blinkingUntil end: Instant? = nil,
        _ effects: inout Effects
    ) {
        if new != nil || end == nil { tag.lights[.gear].turnOff() }
        tag.lightChanged(&effects) { led in
            if new != nil {
                led.blinks()
            } else if let end {
                led.blinkingEnds(at: end)
            } else {
                led.turnOff()
            }
        }
        let wasOn = search != nil
        search = new
        if wasOn != (new != nil) {
            effects.publish(.fact(tag.topics[Self.topic], word: wasOn ? "off" : "on"))
        }
    }
}

extension Find {
    /// The parts of the gear that can be noticed.
    private static func gear(of tag: TagMirror) -> Set<Capability> {
        (tag.gear.latest?.value?.capabilities ?? []).intersection([.led, .haptic])
    }

    /// The commands that let the gear blink and vibrate.
    private static func gearCommands(_ tag: TagMirror, for duration: Duration) -> [TagCommand] {
        let gear = gear(of: tag)
        return (gear.contains(.led) ? [.playLEDPattern(.finding(for: duration), on: .gear)] : [])
            + (gear.contains(.haptic) ? [.playHaptic(.finding(for: duration))] : [])
    }

    /// The commands that end the blinking; none without a connection.
    private static func endCommands(_ tag: TagMirror) -> [TagCommand] {
        guard tag.isConnected else { return [] }
        let gear = gear(of: tag)
        return [.playLEDPattern(.haltAll, on: .tag)]
            + (gear.contains(.led) ? [.playLEDPattern(.haltAll, on: .gear)] : [])
            + (gear.contains(.haptic) ? [.playHaptic(.stop)] : [])
    }
}
