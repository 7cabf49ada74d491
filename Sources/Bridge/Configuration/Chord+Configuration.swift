import Bridge
import JacquardProtocol
import Text

extension Chord {
    /// The row of `chords`.
    static var list: ConfigurationKey<Settings> {
        .list(
            "chords", \.bridge.chords, of: keys, limit: 16, .settings,
            "Chords: two to four gestures within a time, which are an event of their own.",
            empty: Chord(name: "", of: []), check: { items, _, findings in usable(items, &findings) }
        ).option("Chords", "Two to four gestures within a time, which are an event of their own")
    }

    /// The rows of an item.
    private static var keys: [ConfigurationKey<Chord>] {
        [
            ConfigurationKey(
                "name", \.name, .chordName, .settings,
                "The event_type in the topic jacquard/tag/<id>/gesture. It cannot be the name of a gesture."
            ).example(
                "double_tap_then_brush_in",
                comment: """
                    The event_type in the topic jacquard/tag/<id>/gesture, 1 to 32 of a-z 0-9 _, with a letter in \
                    front, not the name of a gesture. Required.
                    """
            ).option("Name", "Small letters, digits and _, with a letter in front; not the name of a gesture").required(
                ScalarRule<String>.chordName.allowed),
            ConfigurationKey(
                "of", \.gestures, .gestures(2...4), .settings, "The gestures in order, without others between them."
            ).example(
                "[double_tap, brush_in]",
                comment: """
                    The gestures in order, 2 to 4 of double_tap, brush_in, brush_out, cover, brush_up, brush_down. \
                    Required.
                    """
            ).option(
                "Gestures",
                """
                In order, 2 to 4, separated by commas: double_tap, brush_in, brush_out, cover, brush_up, brush_down
                """
            ).required("2 to 4 of \(ScalarRule<Gesture>.gesture.allowed)"),
            ConfigurationKey(
                "within_ms", \.within, .milliseconds(100...5000), .settings,
                "The longest time from the first gesture to the last, in milliseconds."
            ).option("Time from the first gesture to the last (ms)", ""),
            ConfigurationKey(
                "exclusive", \.isExclusive, .boolean, .settings,
                """
                true: hold the gestures back until the chord is complete or within_ms have passed, and publish only the \
                chord if it is complete.
                """
            ).option("Exclusive", "Hold the gestures back until the chord is complete or the time has passed"),
            ConfigurationKey(
                "tags", \.tags, .tagIDs(1...64), .settings, "The ids of the tags that can make it. Default: all tags."
            ).example("[003R]").option("Tags", "Their ids, separated by commas. Empty means all tags"),
        ]
    }

    /// Reports names that are not unique, and returns the chords that have a name and gestures.
    private static func usable(
        _ items: [ReadItem<Chord>], _ findings: inout ConfigurationFindings
    ) -> [Chord] {
        var names: [String: String] = [:]
        let usable = items.filter { $0.keys.valid.isSuperset(of: ["name", "of"]) }
        for item in usable {
            guard let other = names.updateValue(item.keys.path, forKey: item.value.name),
                let node = item.keys.nodes["name"]
            else { continue }
            findings.add(
                "\(DisplayText.quoted(item.value.name)) is the name of \(other), too",
                path: DisplayText.path(item.keys.path, "name"), at: node.origin, allowed: "a name for each chord")
        }
        return usable.map(\.value)
    }
}

extension ScalarRule where Value == Gesture {
    /// The word of a gesture.
    static var gesture: ScalarRule {
        ScalarRule<String>.choice(of: Gesture.words).map { word throws(Rejection) in
            guard let gesture = Gesture(word: word) else { throw Rejection("is not one of these") }
            return gesture
        }
    }
}

extension ScalarRule where Value == String {
    /// The name of a chord.
    static var chordName: ScalarRule {
        let word = word(limit: 32, alphabet: "a-z 0-9 _") {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_")
        }
        return ScalarRule(allowed: "\(word.allowed), with a letter in front, and not the name of a gesture") {
            text throws(Rejection) in
            let name = try word.parse(text)
            guard name.utf8.first.map({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) ?? false else {
                throw Rejection("does not begin with a letter")
            }
            // Gestures without a name are "unknown".
            guard Gesture(word: name) == nil, !["unknown", "unknown_gesture"].contains(name)
            else {
                throw Rejection("is the name of a gesture")
            }
            return name
        }
    }
}
