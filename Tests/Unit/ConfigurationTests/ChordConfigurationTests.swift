import Bridge
import JacquardProtocol
import Testing

@testable import Configuration

@Suite("Chords of the configuration")
struct ChordConfigurationTests {
    private static let gestures = "double_tap, brush_in, brush_out, cover, brush_up, brush_down"
    private static let names = "1 to 32 of a-z 0-9 _, with a letter in front, and not the name of a gesture"

    @Test("have a name, gestures, a time, and tags where they are set")
    func values() throws {
        let chords = try readConfiguration(
            """
            chords:
              - {name: tap_in, of: [double_tap, brush_in]}
              - name: all4
                of: cover, brush_up, brush_down, brush_out
                within_ms: 5000
                exclusive: true
                tags: [0001, sleeve]
            """
        ).get().bridge.chords
        #expect(
            chords == [
                Chord(name: "tap_in", of: [.doubleTap, .brushIn]),
                Chord(
                    name: "all4", of: [.shortCover, .brushUp, .brushDown, .brushOut], within: .seconds(5),
                    isExclusive: true, tags: ["0001", "sleeve"]),
            ])
    }

    @Test("are set from the environment, too")
    func environment() throws {
        let prefix = "JACQUARD2MQTT_CHORDS__0__"
        let variables = [
            prefix + "NAME": "tap_in", prefix + "OF": "double_tap,brush_in", prefix + "WITHIN_MS": "100",
            prefix + "EXCLUSIVE": "true", prefix + "TAGS": "0001",
        ]
        #expect(
            try readConfiguration("", environment: variables).get().bridge.chords == [
                Chord(
                    name: "tap_in", of: [.doubleTap, .brushIn], within: .milliseconds(100), isExclusive: true,
                    tags: ["0001"])
            ])
    }

    @Test(
        "are reported with line, key and what is allowed when they are wrong",
        arguments: [
            ("- {of: [cover, cover]}", "2:3: chords.0.name: missing; allowed: \(names)"),
            ("- {name: a}", "2:3: chords.0.of: missing; allowed: 2 to 4 of \(gestures)"),
            (
                "- {name: cover, of: [cover, cover]}",
                "2:10: chords.0.name: \"cover\" is the name of a gesture; allowed: \(names)"
            ),
            (
                "- {name: unknown, of: [cover, cover]}",
                "2:10: chords.0.name: \"unknown\" is the name of a gesture; allowed: \(names)"
            ),
            (
                "- {name: a/b, of: [cover, cover]}",
                "2:10: chords.0.name: \"a/b\" holds other characters; allowed: \(names)"
            ),
            (
                "- {name: 2a, of: [cover, cover]}",
                "2:10: chords.0.name: \"2a\" does not begin with a letter; allowed: \(names)"
            ),
            ("- {name: a, of: [cover]}", "2:17: chords.0.of: a list of 1; allowed: 2 to 4 items"),
            (
                "- {name: a, of: [cover, cover, cover, cover, cover]}",
                "2:17: chords.0.of: a list of 5; allowed: 2 to 4 items"
            ),
            (
                "- {name: a, of: [cover, coverr]}",
                "2:25: chords.0.of.1: \"coverr\" is not one of these (did you mean cover?); allowed: \(gestures)"
            ),
            (
                "- {name: a, of: [cover, cover], within_ms: 99}",
                "2:44: chords.0.within_ms: \"99\" is out of range; allowed: 100 to 5000 milliseconds"
            ),
            (
                "- {name: a, of: [cover, cover], tags: [a/b]}",
                "2:40: chords.0.tags.0: \"a/b\" holds other characters; allowed: 1 to 64 of 0-9 A-Z a-z _ -"
            ),
            (
                "- {name: a, of: [cover, cover], tags: []}",
                "2:39: chords.0.tags: a list of 0; allowed: 1 to 64 items"
            ),
            (
                "- {name: a, of: [cover, cover]}\n- {name: a, of: [cover, brush_in]}",
                "3:10: chords.1.name: \"a\" is the name of chords.0, too; allowed: a name for each chord"
            ),
            (
                (0...16).map { "- {name: a\($0), of: [cover, cover]}" }.joined(separator: "\n"),
                "18:3: chords.16: one item too many; allowed: at most 16 items"
            ),
        ])
    func errors(list: String, expected: String) {
        #expect(errorLines("chords:\n" + list) == ["/etc/x.yaml:" + expected])
    }
}
