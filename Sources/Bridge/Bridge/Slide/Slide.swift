import HomeAssistant
import JSON
import JacquardProtocol
import Time

/// The touch mode `slide`: the gear streams, and the bridge publishes what a finger does.
struct Slide: TagFeature {
    static let topic = TopicRow("slide", .stream, isOnPage: false) { document in
        guard let position = document["position"]?.word else { return nil }
        return switch document["phase"]?.string {
        case "begin": "finger at \(position) of 100"
        case "move": "finger slides to \(position)"
        case "hold": "finger holds at \(position)"
        case "end": "finger lifted at \(position)"
        default: nil
        }
    }
    static let topics = [topic]
    static let touchMode = TouchModeRow(
        "slide", .continuous, "reports slides; gestures pause", title: "Slide (gestures pause)",
        details: [
            "In the mode slide it reports the place of a finger on the topic slide. That",
            "costs as much, needs slide.enabled in the configuration, and ends after",
            "slide.idle_min minutes without a touch.",
        ],
        refusal: { $0.features.slide.idle == nil ? .slideIsDisabled : nil },
        data: { $0.features.slide.idle.map(CommandData.slide) ?? .none })
    static let touchModes = [touchMode]

    /// At most one; none until it was used.
    private var states: [SlideState] = []

    init(stored: JSONValue?, _ options: BridgeOptions, isAnnounced: Bool) {}

    var deadline: Instant? { states.first?.deadline }
    var isActive: Bool { states.first?.isOn ?? false }
    var touchMode: String? { isActive ? Self.touchMode.word : nil }

    mutating func handle(_ event: FeatureEvent, of tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects) {
        if case .touchModeRequested(Self.touchMode.word, let options) = event, states.isEmpty {
            states = options.features.slide.idle.map { [SlideState(idle: $0)] } ?? []
        }
        guard !states.isEmpty else { return }
        states[0].handle(event, of: tag, at: now, &effects)
    }
}

extension SlideState {
    fileprivate mutating func handle(
        _ event: FeatureEvent, of tag: TagMirror, at now: Timestamp, _ effects: inout Effects
    ) {
        switch event {
        case .touchModeRequested(let word, let options):
            if word == Slide.touchMode.word { idle = options.features.slide.idle ?? idle }
            isRequested = word == Slide.touchMode.word
        case .touchMode(let mode):
            publish(confirmed(mode, at: now.instant), of: tag, at: now, &effects)
            if isToBeResumed, mode == .gesture, tag.isConnected { tag.perform([.setTouchMode(.continuous)], &effects) }
        case .touch(let sample): publish(sampled(sample, at: now.instant), of: tag, at: now, &effects)
        case .linkEnded, .removed, .stopping: publish(interrupted(), of: tag, at: now, &effects)
        case .gearDetached: publish(detached(), of: tag, at: now, &effects)
        case .takenOver: _ = end(isConnected: false, at: now.instant)
        case .deadline:
            guard let deadline, deadline <= now.instant else { return }
            let due = self.due(isConnected: tag.isConnected, at: now.instant)
            publish(due.events, of: tag, at: now, &effects)
            if due.ends { tag.perform([.setTouchMode(.gesture)], &effects) }
        case .configured(let old, let new, let hasCancelled):
            guard old.features.slide.idle != new.features.slide.idle else { return }
            if let idle = new.features.slide.idle { return self.idle = idle }
            let ends = end(isConnected: tag.isConnected, at: now.instant)
            if ends || hasCancelled { tag.perform([.setTouchMode(.gesture)], &effects) }
        default: break
        }
    }

    private func publish(
        _ events: [SlideMachine.Event], of tag: TagMirror, at now: Timestamp, _ effects: inout Effects
    ) {
        for event in events {
            effects.publish(.stream(tag.topics[Slide.topic], SlideDocument(event: event, now: now)))
        }
    }
}

extension Slide {
    /// Moves are no events of Home Assistant: there are ten a second.
    static func entities(_ options: BridgeOptions?) -> [FeatureEntity] {
        if let options, options.features.slide.idle == nil { return [] }
        let phases = Choices(SlideMachine.Phase.allCases.filter { $0 != .move }.map(\.rawValue))
        return [
            FeatureEntity(
                Entity(
                    "slide", "Slide",
                    .event(
                        "slide",
                        "{% if value_json.phase in \(phases.titlesByWord) %}"
                            + "{{ dict(value_json, event_type=value_json.phase) | tojson }}{% endif %}",
                        types: phases),
                    icon: "mdi:gesture-swipe-horizontal", needs: .bridge), of: .gear),
            // Unknown while no finger slides, so that its changes are those of one slide.
            FeatureEntity(
                Entity(
                    "slide_position", "Slide position",
                    .sensor(
                        "slide",
                        "{{ none if value_json.phase | default('end') == 'end' else value_json.position | default(none) }}",
                        unit: "%"),
                    category: .diagnostic, icon: "mdi:gesture-swipe-horizontal", needs: .bridge), of: .gear),
        ]
    }
}
