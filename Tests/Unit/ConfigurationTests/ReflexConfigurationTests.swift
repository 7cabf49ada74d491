import JacquardProtocol
import Testing

@testable import Configuration

@Suite("Reflexes of the configuration")
struct ReflexConfigurationTests {
    private static let gestures = "double_tap, brush_in, brush_out, cover, brush_up, brush_down"
    private static let triggers = "on, gear, battery_below, broker"

    @Test("have one trigger and a command")
    func values() throws {
        let reflexes = try readConfiguration(
            """
            reflexes:
              - {on: cover, do: led flash}
              - on: tap_in
                from: [sleeve, 0001]
                do: 'led {"color": "red"}'
                tag: collar
                cooldown_ms: 0
              - {gear: attached, do: haptic short}
              - {battery_below: 15, do: led red}
              - {broker: lost, do: led red}
            chords:
              - {name: tap_in, of: [double_tap, brush_in]}
            """
        ).get().reflexes
        #expect(
            reflexes == [
                ReflexSettings(event: "cover", request: "led flash"),
                ReflexSettings(
                    event: "tap_in", sources: ["sleeve", "0001"], tag: "collar", request: #"led {"color": "red"}"#,
                    cooldown: .zero),
                ReflexSettings(gear: .attached, request: "haptic short"),
                ReflexSettings(batteryBelow: 15, request: "led red"),
                ReflexSettings(broker: .lost, request: "led red"),
            ])
    }

    @Test("give configured and built-in signals, by a word or in JSON; others are reported")
    func signals() throws {
        func configuration(_ request: String) -> String {
            "signals:\n- {name: tea, haptic: short}\nreflexes:\n- {on: cover, do: '\(request)'}"
        }
        for request in ["notify tea", #"notify {"signal":"tea"}"#, "notify doorbell", #"notify {"signal":"doorbell"}"#]
        {
            #expect(try readConfiguration(configuration(request)).get().reflexes.map(\.request) == [request])
        }
        for request in ["notify te", #"notify {"signal":"te"}"#] {
            let lines = errorLines(readConfiguration(configuration(request)))
            #expect(lines.count == 1 && lines[0].contains(#"reflexes.0.do: "te" is no signal (did you mean tea?)"#))
        }
    }

    @Test(
        "are reported with line, key and what is allowed when they are wrong",
        arguments: [
            (
                "- {on: cover}",
                "2:3: reflexes.0.do: missing; allowed: led, haptic or notify and a payload, such as led flash or haptic short"
            ),
            ("- {do: led flash}", "2:3: reflexes.0: nothing triggers it; allowed: one of \(triggers)"),
            (
                "- {on: cover, gear: attached, do: led flash}",
                "2:21: reflexes.0.gear: set together with reflexes.0.on; allowed: one of both"
            ),
            (
                "- {broker: lost, from: [0001], do: led flash}",
                "2:24: reflexes.0.from: set together with broker, which no tag reports; allowed: one of both"
            ),
            (
                "- {on: tap_inn, do: led flash}\nchords:\n- {name: tap_in, of: [cover, cover]}",
                "2:8: reflexes.0.on: \"tap_inn\" is neither a gesture nor a chord (did you mean tap_in?)"
                    + "; allowed: \(gestures), tap_in"
            ),
            (
                "- {gear: on, do: led flash}",
                "2:10: reflexes.0.gear: \"on\" is not one of these; allowed: attached, detached"
            ),
            (
                "- {battery_below: 101, do: led flash}",
                "2:19: reflexes.0.battery_below: \"101\" is out of range; allowed: 1 to 100"
            ),
            (
                "- {on: cover, do: led flasch}",
                "2:19: reflexes.0.do: \"led flasch\" is refused"
                    + "; allowed: led, haptic or notify and a payload, such as led flash or haptic short"
            ),
            (
                (0...16).map { _ in "- {on: cover, do: led flash}" }.joined(separator: "\n"),
                "18:3: reflexes.16: one item too many; allowed: at most 16 items"
            ),
        ])
    func errors(list: String, expected: String) {
        let result = ConfigurationReader.read(
            WrittenConfiguration(yaml: Array(("reflexes:\n" + list).utf8)), file: "/etc/x.yaml", environment: [:],
            hostName: "Attic",
            readPassword: { _ in Secret(value: "") },
            reflexProblem: { $0 == "led flasch" ? "is refused" : nil })
        #expect(errorLines(result) == ["/etc/x.yaml:" + expected])
    }
}
