public import Bridge
import HomeAssistant
public import JacquardProtocol
import Text

/// The configuration: the file and the environment, checked and completed by defaults.
///
/// Each section is declared beside its rows of the table of keys, from which reading, printing, reloading and the JSON schema follow.
public struct Settings: Hashable, Sendable {
    /// The bridge's name in topics: `[a-z0-9-]{1,32}`; by default derived from the host name.
    public var instance: String
    /// Whether the configuration sets it.
    public var isInstanceGiven = false
    /// The connection to the broker.
    public var mqtt: MQTT
    /// The Bluetooth adapter and its time limits.
    public var bluetooth = Bluetooth()
    /// The announcements for Home Assistant.
    public var homeAssistant = HomeAssistant()
    /// Tags with a fixed id, name or policy; tags paired by command are known too.
    public var tags: [TagSettings] = []
    /// Gear that the built-in catalogue does not contain, or describes differently.
    public var gear: [GearSettings] = []
    /// Groups of tags for commands.
    public var groups: [GroupSettings] = []
    /// Commands that the bridge itself gives.
    public var reflexes: [ReflexSettings] = []
    /// Level and format of the log.
    public var log = Log()
    /// Metrics for Prometheus.
    public var metrics = Metrics()
    /// The settings that the bridge takes as they are.
    public var bridge = BridgeOptions()
    /// The recording of events for `replay`.
    public var record = Record()

    /// All defaults, before those that depend on the host name or on other keys.
    static let initial = Settings(instance: "", mqtt: MQTT(clientID: ""))

    /// The table of keys, in the order of the documentation.
    static var keys: [ConfigurationKey<Settings>] {
        let instance: ConfigurationKey<Settings> = ConfigurationKey(
            "instance", \.instance, .instance, .nextStart,
            "The bridge's name in its topics. Default: the host's name in lower case."
        ).example(
            "attic",
            comment: """
                The bridge's name in its topics, 1 to 32 of a-z 0-9 -. Default: the host's name in lower case.
                """
        ).option(
            "Name of the bridge", "The bridge's name in its topics, 1 to 32 of a-z 0-9 -", initial: "homeassistant"
        ).defaulting { _ in }  // `ConfigurationReader` sets it, because only the reader has the host name.
        let parts: [[ConfigurationKey<Settings>]] = [
            [instance], mqttKeys, bluetoothKeys, homeAssistantKeys,
            [
                TagSettings.list, GroupSettings.list, GearSettings.list, Chord.list, Signal.list,
                ReflexSettings.list,
            ],
            logKeys, defaultsKeys, limitsKeys, fleetKeys, metricsKeys, telemetryKeys, recordKeys,
            PresenceOptions.keys, FeatureTable.keys.map(\.row),
        ]
        return Array(parts.joined())
    }
}

extension Settings.HomeAssistant {
    /// Whether there is one announcement for each device, not one for each entity.
    public var announcesDevices: Bool { form == .device }
}

extension Settings {
    /// The tags of each group.
    public var tagsOfGroups: [String: [TagID]] {
        Dictionary(groups.map { ($0.name, $0.tags) }) { first, _ in first }
    }

    /// Allowed but questionable settings, one sentence each; logged at every start and printed by `check-config`.
    public var notices: [String] {
        var notices: [String] = []
        if mqtt.tls?.isInsecure == true {
            notices.append(
                "mqtt.tls.insecure is true: the broker's certificate does not have to match its name")
        }
        if mqtt.password != nil, mqtt.username == nil {
            notices.append("mqtt.password is set without mqtt.username: a broker that speaks 3.1.1 never sees it")
        }
        let dotted = [("mqtt.base_topic", mqtt.baseTopic), ("home_assistant.prefix", homeAssistant.prefix)]
        for (key, topic) in dotted where topic.utf8.contains(UInt8(ascii: ".")) {
            notices.append("\(key): \(topic) has a dot, which RabbitMQ turns into a slash: there it cannot work")
        }
        if tags.isEmpty {
            notices.append("tags is empty: only tags that were paired by command are connected")
        }
        notices += Self.serialNotices(tags.map(\.serial))
        let ids = Set(tags.map(\.id))
        let reflexes = reflexes.enumerated().map { number, reflex in
            ("reflexes[\(number)]", "reflex", [reflex.tag].compactMap(\.self) + (reflex.sources ?? []))
        }
        let chords = bridge.chords.enumerated().map { ("chords[\($0)]", "chord", $1.tags ?? []) }
        for (path, kind, tags) in reflexes + chords {
            for id in tags where !ids.contains(id) {
                notices.append("\(path): \(id) is not in tags: the \(kind) needs that tag to be paired by command")
            }
        }
        return notices
    }

    /// One sentence for each tag in the file whose id is the serial of a tag that is not in the file and that the bridge knows, or
    /// whose serial looks like that of one.
    ///
    /// - Parameter known: the serials of the tags that the bridge knows.
    /// - Returns: the sentences, in the order of the file.
    public func notices(comparedWith known: [String]) -> [String] {
        let listed = Set(tags.map(\.serial)), others = known.filter { !listed.contains($0) }
        return tags.enumerated().compactMap { number, tag in
            if others.contains(tag.id.text) {
                return
                    "tags[\(number)].id: \(tag.id) is the serial of another tag that the bridge knows, which has no id then"
            }
            let hint = known.contains(tag.serial) ? "" : SerialLikeness.hint(for: tag.serial, in: others)
            return hint.isEmpty ? nil : "tags[\(number)].serial: the bridge does not know \(tag.serial)\(hint)"
        }
    }

    /// The serials that a person can have misread.
    private static func serialNotices(_ serials: [String]) -> [String] {
        var shapes: [String: String] = [:]
        var notices: [String] = []
        for (number, serial) in serials.enumerated() {
            let remedy = "compare it with the print on the tag"
            if let other = shapes.updateValue(serial, forKey: SerialLikeness.shape(serial)), other != serial {
                notices.append("tags[\(number)].serial: \(serial) and \(other) look alike: \(remedy)")
            } else if let caution = SerialLikeness.caution(serial) {
                notices.append("tags[\(number)].serial: \(caution): \(remedy)")
            }
        }
        return notices
    }
}
