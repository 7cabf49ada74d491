public import JSON

/// An entity or a device trigger of a device: one row of `tagEntities` or `bridgeEntities`, or of a feature.
///
/// Topics are relative to the topic of the device: `battery` is `jacquard/tag/003R/battery`.
public struct Entity: Equatable, Sendable {
    /// The place in Home Assistant of an entity that is not one of the main ones.
    public enum Category: String, Sendable {
        case config, diagnostic
    }

    /// The condition under which an entity is available.
    public enum Requirement: Sendable {
        /// Nothing: the entity is always available.
        case nothing
        /// The bridge only: the entity stays available while its tag is away.
        case bridge
        /// The bridge and the device itself.
        case device
        /// Gear attached to the tag, too.
        case gear
        /// Gear that can vibrate, too.
        case hapticGear
    }

    /// Identifies the entity within its device in both forms. Never change it: the migration between the forms would lose
    /// the entity.
    let key: String
    /// A short name: Home Assistant puts the device's name before it. Nil for a trigger, which has none.
    let name: String?
    let kind: EntityKind
    let category: Category?
    let icon: String?
    let isEnabled: Bool
    let requirement: Requirement

    /// Describes an entity.
    public init(
        _ key: String, _ name: String, _ kind: EntityKind, category: Category? = nil, icon: String? = nil,
        isEnabled: Bool = true, needs requirement: Requirement = .device
    ) {
        self.key = key
        self.name = name
        self.kind = kind
        self.category = category
        self.icon = icon
        self.isEnabled = isEnabled
        self.requirement = requirement
    }

    /// Describes a device trigger. It is not an entity: it has no name, unique id or availability.
    init(trigger key: String, _ kind: EntityKind) {
        self.key = key
        name = nil
        self.kind = kind
        category = nil
        icon = nil
        isEnabled = true
        requirement = .nothing
    }
}

/// The platform of an entity and the keys that belong to it.
public struct EntityKind: Equatable, Sendable {
    /// Home Assistant's name of the platform, such as `binary_sensor`.
    let platform: String
    /// Keys whose values are topics, relative to the topic of the device.
    var topics: [String: String] = [:]
    /// The same, relative to the topic of the bridge.
    var bridgeTopics: [String: String] = [:]
    var values: [String: JSONValue] = [:]
    /// Keys of the single form only.
    var singleFormValues: [String: JSONValue] = [:]
    /// Whether early releases log an error for it.
    var isOnlyInDeviceForm = false
}

extension EntityKind {
    /// An entity of any platform. Those that several entities have are below.
    ///
    /// - Parameters:
    ///   - platform: Home Assistant's name of the platform, such as `number`.
    ///   - topics: the keys whose values are topics, relative to the topic of the device.
    ///   - values: the other keys of the platform.
    public init(_ platform: String, topics: [String: String], values: [String: JSONValue]) {
        self.init(platform: platform, topics: topics, values: values)
    }
}

extension EntityKind {
    /// More values of an entity, as attributes: a topic with JSON, and a template for what to take of it; nil takes the
    /// whole object.
    public typealias Attributes = (topic: String, template: String?)

    /// A value to read. A sensor of the class `enum` lists every state in `options`.
    public static func sensor(
        _ topic: String, _ template: String, class deviceClass: String? = nil, unit: String? = nil,
        isMeasurement: Bool = false, options: [String]? = nil, attributes: Attributes? = nil
    ) -> EntityKind {
        var kind = EntityKind(
            platform: "sensor", topics: ["state_topic": topic], values: ["value_template": .string(template)])
        kind["device_class"] = deviceClass
        kind["unit_of_measurement"] = unit
        kind["state_class"] = isMeasurement ? "measurement" : nil
        kind.values["options"] = options.map { .array($0.map(JSONValue.string)) }
        kind.set(attributes)
        return kind
    }

    /// Sentences to read, from an expression; empty if there is nothing to say. Home Assistant refuses states of more than
    /// 255 characters.
    static func text(_ topic: String, _ expression: String) -> EntityKind {
        sensor(topic, "{{ (\(expression))[:255] }}")
    }

    /// A point in time, or null if it is unknown.
    ///
    /// Releases with the single form only log a warning for an unknown value of the class `timestamp`: there it is a text.
    static func timestamp(_ topic: String, _ expression: String, attributes: Attributes? = nil) -> EntityKind {
        var kind = sensor(topic, "{{ \(expression) }}", class: "timestamp", attributes: attributes)
        kind.singleFormValues = [
            "device_class": .null, "value_template": .string("{{ \(expression) or 'unknown' }}"),
        ]
        return kind
    }

    /// One of two states. Without a template the payload is compared as it is.
    public static func binarySensor(
        _ topic: String, _ template: String? = nil, on: String, off: String, class deviceClass: String? = nil,
        attributes: Attributes? = nil
    ) -> EntityKind {
        var kind = EntityKind(platform: "binary_sensor", topics: ["state_topic": topic])
        kind["value_template"] = template
        kind["payload_on"] = on
        kind["payload_off"] = off
        kind["device_class"] = deviceClass
        kind.set(attributes)
        return kind
    }

    /// A tracker with the states `home`, `not_home`, and `None` for unknown. Home Assistant 2026.11 takes no other state from a
    /// template: for the name of a zone it shows the whole payload instead.
    static func tracker(_ topic: String, _ template: String, attributes: Attributes? = nil) -> EntityKind {
        var kind = EntityKind(
            platform: "device_tracker", topics: ["state_topic": topic],
            values: ["value_template": .string(template), "source_type": "bluetooth_le"])
        kind.set(attributes)
        return kind
    }

    /// A text for people that is sent to the tag. Releases with the single form only don't know the platform.
    static func notify(_ command: String, template: String) -> EntityKind {
        var kind = EntityKind(
            platform: "notify", topics: ["command_topic": command], values: ["command_template": .string(template)])
        kind.isOnlyInDeviceForm = true
        return kind
    }

    /// A button that publishes a payload.
    public static func button(_ command: String, press payload: String) -> EntityKind {
        EntityKind(
            platform: "button", topics: ["command_topic": command], values: ["payload_press": .string(payload)])
    }

    /// A button that sends a request about a tag to the bridge.
    static func button(ofBridge command: String, press payload: String) -> EntityKind {
        EntityKind(
            platform: "button", bridgeTopics: ["command_topic": command],
            values: ["payload_press": .string(payload)])
    }

    /// A button that publishes the result of a template.
    public static func button(_ command: String, template: String) -> EntityKind {
        EntityKind(
            platform: "button", topics: ["command_topic": command], values: ["command_template": .string(template)])
    }

    /// A switch with the states `ON` and `OFF`.
    public static func `switch`(
        _ topic: String, _ template: String, command: String, on: String, off: String
    ) -> EntityKind {
        EntityKind(
            platform: "switch", topics: ["state_topic": topic, "command_topic": command],
            values: [
                "value_template": .string(template), "state_on": "ON", "state_off": "OFF", "payload_on": .string(on),
                "payload_off": .string(off),
            ])
    }

    /// One of a few options; the templates map payloads to options and back.
    public static func select(_ topic: String, command: String, _ choices: Choices) -> EntityKind {
        EntityKind(
            platform: "select", topics: ["state_topic": topic, "command_topic": command],
            values: [
                "value_template": .string("{{ \(choices.titlesByWord).get(value) }}"),
                "command_template": .string("{{ \(choices.wordsByTitle)[value] }}"), "options": choices.titleList,
            ])
    }

    /// One of a few options, with templates of its own.
    public static func select(
        _ topic: String, _ template: String, command: String, _ commandTemplate: String, options: [String]
    ) -> EntityKind {
        EntityKind(
            platform: "select", topics: ["state_topic": topic, "command_topic": command],
            values: [
                "value_template": .string(template), "command_template": .string(commandTemplate),
                "options": .array(options.map(JSONValue.string)),
            ])
    }

    /// A text field. The length is in characters; Home Assistant's default is 255. The pattern is a regular expression: Home
    /// Assistant rejects other texts, and the state must match it, too.
    static func text(
        _ topic: String, _ template: String, command: String, maxLength: Int64, pattern: String
    ) -> EntityKind {
        EntityKind(
            platform: "text", topics: ["state_topic": topic, "command_topic": command],
            values: ["value_template": .string(template), "max": .integer(maxLength), "pattern": .string(pattern)])
    }

    /// Something that happens. The types are all that can occur: Home Assistant logs a warning about others, and an error with
    /// a traceback for a payload that is `null` or a list (2026.11). They are words: automations store them. Two equal events
    /// at the same moment are two changes of its state (2026.11).
    public static func event(
        _ topic: String, _ template: String, types: Choices, class deviceClass: String? = nil
    ) -> EntityKind {
        var kind = EntityKind(
            platform: "event", topics: ["state_topic": topic],
            values: ["value_template": .string(template), "event_types": types.wordList])
        kind["device_class"] = deviceClass
        return kind
    }

    /// A light with the JSON schema, an RGB colour, brightness and effects.
    static func light(_ topic: String, command: String, effects: [String]) -> EntityKind {
        EntityKind(
            platform: "light", topics: ["state_topic": topic, "command_topic": command],
            values: [
                "schema": "json", "brightness": true, "supported_color_modes": ["rgb"],
                "effect": true, "effect_list": .array(effects.map(JSONValue.string)),
                // In seconds.
                "flash": true, "flash_time_short": 1, "flash_time_long": 5,
                // The tag has no transitions; the default is true.
                "transition": false,
            ],
            // Releases up to 2024 require it beside `supported_color_modes`; later ones log a warning.
            singleFormValues: ["color_mode": true])
    }

    /// A trigger that automations store by type and subtype: never change these.
    static func trigger(type: String, subtype: String, _ topic: String, _ template: String) -> EntityKind {
        EntityKind(
            platform: "device_automation", topics: ["topic": topic],
            values: [
                "automation_type": "trigger", "type": .string(type), "subtype": .string(subtype),
                "value_template": .string(template), "payload": .string(subtype),
            ])
    }

    /// The text of a key; setting nil leaves the key out.
    private subscript(key: String) -> String? {
        get { values[key]?.string }
        set { values[key] = newValue.map(JSONValue.string) }
    }

    private mutating func set(_ attributes: Attributes?) {
        guard let attributes else { return }
        topics["json_attributes_topic"] = attributes.topic
        self["json_attributes_template"] = attributes.template
    }
}

/// Words of topics with the titles that Home Assistant shows for them.
public struct Choices: Hashable, Sendable {
    private struct Choice: Hashable {
        let word: String
        let title: String
    }

    private let choices: [Choice]

    /// Lists the words.
    ///
    /// - Parameters:
    ///   - words: the words of topics, in the order in which Home Assistant shows them.
    ///   - titles: titles by word. The default is the word itself: `double_tap` becomes `Double tap`.
    public init(_ words: [String], titles: [String: String] = [:]) {
        choices = words.map { Choice(word: $0, title: titles[$0] ?? Self.title(of: $0)) }
    }

    /// The title of a gesture without a name.
    static let unknownGesture = "Unknown gesture"

    /// The words as a JSON array.
    var wordList: JSONValue { .array(choices.map { .string($0.word) }) }

    /// The titles as a JSON array.
    var titleList: JSONValue { .array(titles.map(JSONValue.string)) }

    /// The titles.
    public var titles: [String] { choices.map(\.title) }

    /// A dictionary literal of Jinja from words to titles: `{'gesture': 'Gestures'}`.
    public var titlesByWord: String { Self.literal(choices.map { ($0.word, $0.title) }) }

    /// A dictionary literal of Jinja from titles to words.
    public var wordsByTitle: String { Self.literal(choices.map { ($0.title, $0.word) }) }

    private static func title(of word: String) -> String {
        let text = String(word.map { $0 == "_" ? " " : $0 })
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    private static func literal(_ pairs: [(String, String)]) -> String {
        "{" + pairs.map { "\(literal($0.0)): \(literal($0.1))" }.joined(separator: ", ") + "}"
    }

    private static func literal(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'") + "'"
    }
}
