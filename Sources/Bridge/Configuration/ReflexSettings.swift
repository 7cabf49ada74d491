import Bridge
public import JacquardProtocol
import Text

/// One reflex of the list `reflexes`.
public struct ReflexSettings: Hashable, Sendable {
    /// A change of the gear.
    public enum GearChange: String, CaseIterable, Sendable {
        case attached, detached
    }

    /// A change of the connection to the broker.
    public enum BrokerChange: String, CaseIterable, Sendable {
        case lost, back
    }

    /// A gesture or the name of a chord. One of this and the next three is set.
    public var event: String?
    /// Gear is attached or detached.
    public var gear: GearChange?
    /// The battery level falls below this one, in percent.
    public var batteryBelow: Int?
    /// The broker is lost, or connected again.
    public var broker: BrokerChange?
    /// The tags whose events count; nil for all tags.
    public var sources: [TagID]?
    /// The tag that gets the command; nil for the tag of the event.
    public var tag: TagID?
    /// The command, such as `led flash`.
    public var request = ""
    /// How long further events of the same tag are ignored.
    public var cooldown: Duration = .milliseconds(300)
}

extension ReflexSettings {
    /// The keys of which each item has exactly one.
    private static let triggers = ["on", "gear", "battery_below", "broker"]

    /// The row of `reflexes`.
    static var list: ConfigurationKey<Settings> {
        .list(
            "reflexes", \.reflexes, of: keys, limit: 16, .settings,
            """
            Reflexes: LED, haptic and notify commands that the bridge itself gives, also without a broker. Each item has one of \
            \(triggers.joined(separator: ", ")).
            """,
            empty: ReflexSettings(), check: usable
        ).example(
            comment: """
                Reflexes: LED, haptic and notify commands that the bridge itself gives, also without a broker; at \
                most 16 items.
                """
        ).withoutOption("the broker and Home Assistant run on the same host: an automation does the same")
    }

    /// The rows of an item.
    private static var keys: [ConfigurationKey<ReflexSettings>] {
        [
            ConfigurationKey("on", \.event, .text(bytes: 32), .settings, "A gesture, or the name of a chord.").example(
                "double_tap", comment: "What triggers it: a gesture, or the name of a chord."),
            ConfigurationKey("gear", \.gear, .choice, .settings, "The tag is attached to gear, or detached.").example(
                "attached",
                comment: """
                    Alternatives to on: the tag is attached to gear, or detached; the battery level falls below this \
                    one, in percent, 1 to 100; the broker is lost, or back.
                    """, isAlternative: true),
            ConfigurationKey(
                "battery_below", \.batteryBelow, .integer(1...100), .settings,
                "The battery level falls below this one, in percent."
            ).example("15", comment: "", isAlternative: true),
            ConfigurationKey(
                "broker", \.broker, .choice, .settings, "The connection to the broker is lost, or back."
            ).example("lost", comment: "", isAlternative: true),
            ConfigurationKey(
                "from", \.sources, .tagIDs(1...64), .settings,
                "The ids of the tags whose events count. Default: all tags."
            ).example("[003R]", comment: "The ids of the tags whose events count; not with broker. Default: all tags."),
            ConfigurationKey(
                "do", \.request, .reflexRequest, .settings,
                """
                The command: led, haptic or notify, and the payload of jacquard/tag/<id>/led/set, haptic/set or notify/set: \
                led flash, led red, haptic short, 'led #ff8000' (in quotes), notify doorbell.
                """
            ).example(
                "led flash",
                comment: """
                    The command: led, haptic or notify, and the payload of jacquard/tag/<id>/led/set, haptic/set or \
                    notify/set; in quotes if it contains a #, such as "led #ff8000". Required.
                    """
            ).required(requestAllowed),
            ConfigurationKey(
                "tag", \.tag, .tagID, .settings,
                "The id of the tag that gets the command. Default: the tag of the event; with broker all connected tags."
            ).example("sleeve"),
            ConfigurationKey(
                "cooldown_ms", \.cooldown, .milliseconds(0...3_600_000), .settings,
                "How long further events of the same tag are ignored, in milliseconds."),
        ]
    }

    /// Reports items without a trigger or with several, and those that name a chord which does not exist.
    private static func usable(
        _ items: [ReadItem<ReflexSettings>], _ settings: Settings, _ findings: inout ConfigurationFindings
    ) -> [ReflexSettings] {
        let words = Gesture.words + settings.bridge.chords.map(\.name)
        for item in items {
            let present = triggers.filter { item.keys.nodes[$0] != nil }
            guard let first = present.first else {
                let allowed = "one of \(triggers.joined(separator: ", "))"
                findings.add("nothing triggers it", path: item.keys.path, at: item.keys.origin, allowed: allowed)
                continue
            }
            for other in present.dropFirst() {
                report(
                    other, "set together with \(DisplayText.path(item.keys.path, first))", item, "one of both",
                    &findings)
            }
            if item.keys.nodes["broker"] != nil {
                report("from", "set together with broker, which no tag reports", item, "one of both", &findings)
            }
            reportSignal(item, Signal.names(with: settings.bridge.signals), &findings)
            guard let event = item.value.event, !words.contains(event) else { continue }
            let hint = Spelling.hint(for: event, in: words)
            let allowed = words.joined(separator: ", ")
            report(
                "on", "\(DisplayText.quoted(event)) is neither a gesture nor a chord\(hint)", item, allowed, &findings)
        }
        return items.filter { $0.keys.valid.contains("do") }.map(\.value)
    }

    /// Reports a signal that does not exist.
    private static func reportSignal(
        _ item: ReadItem<ReflexSettings>, _ names: [String], _ findings: inout ConfigurationFindings
    ) {
        guard let name = try? ReflexRequest(item.value.request).signalName, !names.contains(name) else { return }
        let hint = Spelling.hint(for: name, in: names)
        report("do", "\(DisplayText.quoted(name)) is no signal\(hint)", item, names.joined(separator: ", "), &findings)
    }

    private static func report(
        _ key: String, _ problem: String, _ item: ReadItem<ReflexSettings>, _ allowed: String,
        _ findings: inout ConfigurationFindings
    ) {
        guard let node = item.keys.nodes[key] else { return }
        findings.add(problem, path: DisplayText.path(item.keys.path, key), at: node.origin, allowed: allowed)
    }
}

extension ReflexSettings {
    /// The allowed commands of a reflex.
    private static let requestAllowed = "led, haptic or notify and a payload, such as led flash or haptic short"

    /// The command of a reflex; the bridge checks it.
    static func requestRule(_ problem: @escaping (String) -> String?) -> ScalarRule<String> {
        let text = ScalarRule.text(bytes: 1_024)
        return ScalarRule(allowed: requestAllowed) { value throws(Rejection) in
            let value = try text.parse(value)
            if let problem = problem(value) { throw Rejection(problem) }
            return value
        }
    }
}
