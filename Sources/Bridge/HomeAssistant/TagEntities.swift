/// The words of the bridge's topics that discovery documents list.
public struct Vocabulary: Equatable, Sendable {
    /// The gestures that a user can make, as `event_type` of `T/gesture`.
    public let gestures: [String]
    /// The `event_type` of any other gesture.
    public let unknownGesture: String
    /// The chords.
    public let chords: [DiscoveredChord]
    /// The words of `T/touch_mode`.
    public let touchModes: Choices
    /// The effects of `T/led`.
    public let effects: [String]
    /// The words `status` of `T/connection`.
    public let statuses: [String]
    /// The names of signals.
    public let signals: [String]
    /// The entities of features.
    public let entities: [FeatureEntity]
    /// The states of `G/pairing`.
    public let pairingStates: [String]
    /// Whether the bridge has several radios, and so tags have the sensor Radio.
    public let hasRadios: Bool
    /// The states of `T/presence`; empty while it is off.
    public let presenceStates: [String]
    /// Whether gestures are announced as presses of a button, too.
    public let hasButtons: Bool
    /// Whether the LED of a tag is one of the lights of its area.
    public let isAreaLight: Bool

    /// Lists the words.
    public init(
        gestures: [String], unknownGesture: String, chords: [DiscoveredChord] = [], touchModes: Choices,
        effects: [String], statuses: [String] = [], signals: [String] = [],
        entities: [FeatureEntity] = [], pairingStates: [String], presenceStates: [String] = [], hasRadios: Bool = false,
        hasButtons: Bool = false, isAreaLight: Bool = false
    ) {
        self.hasRadios = hasRadios
        self.isAreaLight = isAreaLight
        self.gestures = gestures
        self.unknownGesture = unknownGesture
        self.chords = chords
        self.touchModes = touchModes
        self.effects = effects
        self.statuses = statuses
        self.signals = signals
        self.entities = entities
        self.pairingStates = pairingStates
        self.presenceStates = presenceStates
        self.hasButtons = hasButtons
    }

    /// The entities of features for tags that have shown something.
    func entities(of need: FeatureEntity.Need) -> [Entity] {
        entities.filter { $0.need == need }.map(\.entity)
    }

    /// The entities of features that were used; nil for all.
    func entities(ofUsed used: [String]?) -> [Entity] {
        entities.filter { entity in
            guard case .use(let feature) = entity.need else { return false }
            return used?.contains(feature) ?? true
        }.map(\.entity)
    }

    /// The gestures and chords that a user can make with a tag.
    func events(ofTag id: String) -> [String] {
        gestures + chords.filter { $0.tags.isEmpty || $0.tags.contains(id) }.map(\.name)
    }
}

/// An entity of a feature.
public struct FeatureEntity: Equatable, Sendable {
    /// The property that a tag with it has shown.
    public enum Need: Hashable, Sendable {
        /// Nothing: every tag has it.
        case tag
        /// That it can be attached to gear.
        case gear
        /// That it has used a feature.
        case use(of: String)
    }

    let entity: Entity
    let need: Need

    /// Describes an entity for tags that have shown something.
    public init(_ entity: Entity, of need: Need) {
        (self.entity, self.need) = (entity, need)
    }
}

/// Several gestures that are an event of their own.
public struct DiscoveredChord: Hashable, Sendable {
    /// Its `event_type`.
    public let name: String
    /// The ids of the tags that can make it; empty for all tags.
    public let tags: Set<String>

    /// Describes a chord.
    public init(name: String, tags: Set<String> = []) {
        self.name = name
        self.tags = tags
    }
}

/// The properties of a tag that are known only after it has shown them. Without them, entities would have no value forever.
public struct TagFeatures: Hashable, Sendable {
    /// Whether the tag was ever attached to gear.
    public var hasGear: Bool
    /// The features that it has used; nil for all.
    public var used: [String]?

    /// Describes a tag; the default is one that has shown nothing.
    public init(hasGear: Bool = false, used: [String]? = []) {
        (self.hasGear, self.used) = (hasGear, used)
    }

    /// With every entity.
    static let all = TagFeatures(hasGear: true, used: nil)
}

/// The result of a template for `true` and `false` in JSON; `null` becomes `None`, which Home Assistant reads as unknown.
private let templateTrue = "True"
private let templateFalse = "False"

extension Entity {
    /// The entities and device triggers of a tag, in the order of the announcement. Topics are relative to `T`.
    ///
    /// - Parameters:
    ///   - words: the words of topics.
    ///   - id: the tag.
    ///   - features: the properties that decide which entities it has.
    ///   - payload: the id in payloads, if it is another one.
    /// - Returns: the entities.
    static func tagEntities(
        _ words: Vocabulary, ofTag id: String, _ features: TagFeatures, payload: String? = nil
    ) -> [Entity] {
        let events = words.events(ofTag: id)
        let gestures = Choices(events + [words.unknownGesture], titles: [words.unknownGesture: Choices.unknownGesture])
        let room = words.hasRadios ? ", 'radio': value_json.radio | default(none)" : ""
        let connection = """
            {{ {'error': value_json.error.text if value_json.error | default(none) else none, \
            'hint': value_json.error.hint if value_json.error | default(none) else none, \
            'retry': value_json.retry_at | default(none)\(room)} | tojson }}
            """
        let gesture = """
            {% set labels = \(gestures.titlesByWord) %}\
            {% set type = value_json.event_type if value_json.event_type in labels else '\(words.unknownGesture)' %}\
            {{ dict(value_json, event_type=type, label=labels[type]) | tojson }}
            """
        // The compiler checks each list by itself: one expression of all of them is too complex.
        var entities: [Entity] = [
            Entity(
                "connection", "Connection",
                .binarySensor(
                    "availability", on: "online", off: "offline", class: "connectivity",
                    attributes: ("connection", connection)),
                category: .diagnostic, needs: .bridge),
            status(words.statuses),
            // Disabled by default, because Status has it as an attribute. It is blank while all is well.
            Entity(
                "why_disconnected", "Why disconnected", .text("connection", "value_json.why | default('', true)"),
                category: .diagnostic, icon: "mdi:help-network", isEnabled: false, needs: .bridge),
            // Keeps its last value while the tag is away, like gear and firmware.
            Entity(
                "battery", "Battery",
                .sensor(
                    "battery", "{{ value_json.level | default(none) }}", class: "battery", unit: "%",
                    isMeasurement: true),
                category: .diagnostic, needs: .bridge),
            // Of the bridge: a template cannot remember over a restart whether a level between the two limits was low.
            Entity(
                "battery_low", "Battery low",
                .binarySensor(
                    "battery", "{{ value_json.low | default(none) }}", on: templateTrue, off: templateFalse,
                    class: "battery"),
                category: .diagnostic, needs: .bridge),
            Entity(
                "charging", "Charging",
                .binarySensor(
                    "battery", "{{ value_json.charging | default(none) }}", on: templateTrue, off: templateFalse,
                    class: "battery_charging"),
                category: .diagnostic),
            Entity(
                "battery_forecast", "Battery lasts until",
                .timestamp(
                    "battery/forecast", "value_json.empty | default(none)", attributes: ("battery/forecast", nil)),
                category: .diagnostic, icon: "mdi:battery-clock", needs: .bridge),
        ]
        if features.hasGear { entities += gear }
        entities += [
            // Needs the bridge only: otherwise its state would change whenever the tag leaves and returns, which runs each
            // automation that has a trigger on its state.
            Entity(
                "gesture", "Gesture",
                .event("gesture", gesture, types: gestures), icon: "mdi:gesture", needs: .bridge),
            lastGesture(words),
        ]
        // Present whether or not gear is attached: Home Assistant fails to delete a device whose triggers were withdrawn
        // and announced again.
        entities += events.map { event in
            Entity(
                trigger: "trigger_" + event,
                .trigger(type: "gesture", subtype: event, "gesture", "{{ value_json.event_type }}"))
        }
        // Home Assistant sends a command for an area or a whole device, such as "all lights on", to entities without a category
        // only. Someone may wear the tag, so its controls have one.
        entities.append(
            Entity(
                "led", "LED", .light("led", command: "led/set", effects: words.effects),
                category: words.isAreaLight ? nil : .config))
        if features.hasGear { entities += hapticEntities }
        entities += words.entities(of: .tag) + controls(words.touchModes, words.signals, hasGear: features.hasGear)
        // Where the tag is, roughly.
        if words.hasRadios {
            entities.append(
                Entity(
                    "radio", "Radio", .sensor("connection", "{{ value_json.radio | default(none) }}"),
                    category: .diagnostic, icon: "mdi:radio-tower", needs: .bridge))
        }
        entities += presence(words.presenceStates)
        if words.hasButtons { entities.append(button) }
        if features.hasGear { entities += words.entities(of: .gear) }
        entities += words.entities(ofUsed: features.used)
        // Disabled by default, because Home Assistant does not ask again.
        entities.append(
            Entity(
                "forget", "Forget", .button(ofBridge: "request/forget", press: payload ?? id), category: .config,
                icon: "mdi:delete", isEnabled: false, needs: .bridge))
        return entities
    }

    /// The label of the latest gesture: Home Assistant translates the types of an event only for integrations of its own.
    ///
    /// The options don't depend on the chords: the sensor may still show one that was removed, and Home Assistant logs an error
    /// for each message then (2025.2 and 2026.11).
    private static func lastGesture(_ words: Vocabulary) -> Entity {
        let (chord, unknown) = ("Chord", Choices.unknownGesture)
        let gestures = Choices(words.gestures)
        return Entity(
            "last_gesture", "Last gesture",
            .sensor(
                "gesture",
                "{{ \(gestures.titlesByWord).get(value_json.event_type | default(none), "
                    + "'\(chord)' if value_json.of | default(none) else '\(unknown)') }}",
                class: "enum", options: gestures.titles + [chord, unknown],
                attributes: ("gesture", "{{ {'event_type': value_json.event_type | default(none)} | tojson }}")),
            icon: "mdi:gesture-double-tap", needs: .bridge)
    }

    /// The state of a tag in words, and why it is not connected.
    private static func status(_ words: [String]) -> Entity {
        let choices = Choices(
            words,
            titles: [
                "on_demand": "Connects on demand", "disconnected_by_user": "Disconnected by you",
                "no_bond": "Not paired",
                "in_use": "Used by another program", "failed": "Connection fails",
            ])
        return Entity(
            "status", "Status",
            .sensor(
                "connection", "{{ \(choices.titlesByWord).get(value_json.status | default(none)) }}", class: "enum",
                options: choices.titles,
                attributes: ("connection", "{{ {'why': value_json.why | default(none)} | tojson }}")
            ),
            category: .diagnostic, icon: "mdi:information-outline", needs: .bridge)
    }

    /// The gear that a tag is attached to.
    static let gear: [Entity] = [
        Entity(
            "attached", "Attached",
            .binarySensor(
                "gear", "{{ value_json.attached | default(none) }}", on: templateTrue, off: templateFalse),
            icon: "mdi:link-variant", needs: .bridge),
        // Gear without a name is shown by its product number, which the configuration needs to name it. The sensor is not
        // of the class `enum`, which accepts only announced states: gear can have any name.
        Entity(
            "gear", "Gear",
            .sensor(
                "gear",
                "{{ 'none' if value_json.attached | default(none) == false "
                    + "else value_json.product | default(none) or value_json.product_id | default(none) }}",
                attributes: ("gear", nil)),
            icon: "mdi:tag-text-outline", needs: .bridge),
    ]

    private static func controls(_ touchModes: Choices, _ signals: [String], hasGear: Bool) -> [Entity] {
        var entities: [Entity] = [
            Entity(
                "notify", "Notify", .notify("notify/set", template: "{{ {'message': value} | tojson }}"),
                icon: "mdi:message-flash"),
            // Without a state, so that the same signal can be selected again.
            Entity(
                "signal", "Play signal",
                .select(
                    "notify/result", "None", command: "notify/set", "{{ {'signal': value} | tojson }}", options: signals
                ),
                category: .config, icon: "mdi:bullhorn-variant-outline"),
        ]
        if hasGear {
            entities.append(
                Entity(
                    "touch_mode", "Touch mode", .select("touch_mode", command: "touch_mode/set", touchModes),
                    category: .config, icon: "mdi:gesture-tap", needs: .gear))
        }
        return entities + [
            Entity(
                "connect", "Keep connected",
                .switch(
                    "connection",
                    "{{ 'OFF' if value_json.held | default(false) else 'ON' }}",
                    command: "connection/set", on: "connect", off: "disconnect"),
                category: .config, icon: "mdi:bluetooth-connect", needs: .bridge),
            // Disabled by default because it changes often.
            Entity(
                "rssi", "Signal strength",
                .sensor("rssi", "{{ value_json }}", class: "signal_strength", unit: "dBm", isMeasurement: true),
                category: .diagnostic, isEnabled: false),
            // Disabled by default, because the device has the version too. A sensor and not an `update`: the bridge does not know the latest firmware and cannot install it.
            Entity(
                "firmware", "Firmware", .sensor("info", "{{ value_json.firmware | default(none) }}"),
                category: .diagnostic,
                icon: "mdi:chip", isEnabled: false, needs: .bridge),
        ]
    }

    /// The gestures that resemble a press of a button, as an event of Home Assistant's class for buttons.
    private static let button = Entity(
        "button", "Button",
        .event(
            "gesture",
            "{% set type = {'cover': 'press_end', 'double_tap': 'multi_press_end'}.get(value_json.event_type) %}"
                + "{% if type == 'press_end' %}{{ dict(value_json, event_type=type) | tojson }}"
                + "{% elif type %}{{ dict(value_json, event_type=type, multi_press_count=2) | tojson }}{% endif %}",
            types: Choices(["press_end", "multi_press_end"]), class: "button"),
        icon: "mdi:gesture-tap-button", needs: .bridge)

    /// The entities of `T/presence`; none while it is off.
    private static func presence(_ states: [String]) -> [Entity] {
        guard !states.isEmpty else { return [] }
        let choices = Choices(states)
        return [
            // Always available: a bridge that restarts is no reason to leave home.
            Entity(
                "tracker", "Tracker",
                .tracker(
                    "presence",
                    "{{ {'here': 'home', 'asleep': 'home', 'gone': 'not_home'}"
                        + ".get(value_json.state | default(none), 'None') }}",
                    // Home Assistant counts and triggers zones by this attribute; the tracker has no coordinates.
                    attributes: (
                        "presence",
                        "{{ {'radio': value_json.radio | default(none), 'in_zones': ['zone.home'] "
                            + "if value_json.state | default(none) in ['here', 'asleep'] else []} | tojson }}"
                    )),
                icon: "mdi:map-marker", needs: .nothing),
            Entity(
                "presence", "Presence",
                .sensor(
                    "presence", "{{ \(choices.titlesByWord).get(value_json.state | default(none)) }}", class: "enum",
                    options: choices.titles, attributes: ("presence", nil)),
                icon: "mdi:home-account", needs: .bridge),
        ]
    }

    private static let hapticEntities = hapticButtons.map { word, name, isCommon in
        Entity(
            "haptic_" + word, name, .button("haptic/set", press: word), category: .config, icon: "mdi:vibrate",
            isEnabled: isCommon, needs: .hapticGear)
    }

    /// The words of `T/haptic/set`, with the buttons' names and whether they are enabled by default.
    private static let hapticButtons: [(word: String, name: String, isCommon: Bool)] = [
        ("short", "Vibrate short", true),
        ("long", "Vibrate long", true),
        ("stop", "Vibrate stop", true),
        ("sine_increase", "Vibrate sine increasing", false),
        ("sine_decrease", "Vibrate sine decreasing", false),
        ("linear_increase", "Vibrate linear increasing", false),
        ("linear_decrease", "Vibrate linear decreasing", false),
        ("parabolic_increase", "Vibrate parabolic increasing", false),
        ("parabolic_decrease", "Vibrate parabolic decreasing", false),
    ]
}
