public import HomeAssistant
import JacquardProtocol

extension Publication {
    /// A message of discovery.
    init(_ message: DiscoveryMessage) {
        self.init(topic: message.topic, payload: message.payload, kind: message.removesComponents ? .step : .fact)
    }
}

extension HomeAssistantDiscovery {
    /// - Returns: nil if the configuration announces nothing.
    init?(_ configuration: BridgeConfiguration, topics: BridgeTopics) {
        guard let homeAssistant = configuration.homeAssistant else { return nil }
        self.init(homeAssistant, DiscoveredBridge(configuration, topics), Vocabulary(configuration))
    }

    /// For removing announcements of earlier runs, whether or not this one announces anything.
    init(withdrawing configuration: BridgeConfiguration, topics: BridgeTopics) {
        self.init(
            configuration.homeAssistant ?? HomeAssistantConfiguration(prefix: configuration.discoveryPrefix),
            DiscoveredBridge(configuration, topics), Vocabulary(configuration))
    }
}

extension DiscoveredBridge {
    init(_ configuration: BridgeConfiguration, _ topics: BridgeTopics) {
        self.init(
            instance: configuration.instance, topic: topics.bridge, version: configuration.version,
            page: configuration.homeAssistant?.page)
    }
}

extension Vocabulary {
    init(_ configuration: BridgeConfiguration) {
        self.init(
            gestures: Gesture.words,
            unknownGesture: GestureName.unknown.rawValue,
            chords: configuration.options.chords.map {
                DiscoveredChord(name: $0.name, tags: Set(($0.tags ?? []).map(\.text)))
            },
            touchModes: TouchModeTable.rows.filter { $0.refusal(configuration.options) == nil }.choices,
            effects: LEDEffect.effects.map(\.word),
            statuses: TagStatus.allCases.map(\.rawValue),
            signals: configuration.options.signals.namesWithBuiltIn,
            entities: Features.entities(configuration.options),
            pairingStates: PairingProgress.State.allCases.map(\.rawValue),
            presenceStates: configuration.options.presence.limit == nil ? [] : Presence.State.allCases.map(\.rawValue),
            hasRadios: !configuration.radios.isEmpty,
            hasButtons: configuration.homeAssistant?.hasButtons ?? false,
            isAreaLight: configuration.homeAssistant?.isAreaLight ?? false)
    }
}

extension Vocabulary {
    /// The words of a bridge with every feature on, so that every entity follows from them.
    public static let complete = Vocabulary(
        gestures: Gesture.words, unknownGesture: GestureName.unknown.rawValue,
        touchModes: TouchModeTable.rows.choices, effects: LEDEffect.effects.map(\.word),
        statuses: TagStatus.allCases.map(\.rawValue), signals: BridgeOptions().signals.namesWithBuiltIn,
        entities: Features.entities(nil),
        pairingStates: PairingProgress.State.allCases.map(\.rawValue),
        presenceStates: Presence.State.allCases.map(\.rawValue),
        hasRadios: true, hasButtons: true)
}

extension [TouchModeRow] {
    fileprivate var choices: Choices { Choices(map(\.word), titles: Dictionary(map { ($0.word, $0.title) }) { $1 }) }
}

extension DiscoveredTag {
    /// A tag under its configured name, otherwise its own, otherwise its id.
    init(_ tag: TagMirror) {
        self.init(
            id: tag.entry.id.text, topic: tag.topics.tag,
            name: tag.entry.name ?? tag.sighting.name?.nonEmpty ?? "Jacquard \(tag.entry.id)",
            serial: tag.entry.serial, firmware: tag.info.component?.version?.description,
            features: tag.shownFeatures)
    }
}

extension TagMirror {
    /// The properties that decide which entities the tag has.
    var shownFeatures: TagFeatures { TagFeatures(hasGear: gear.last != nil, used: features.used) }
}
