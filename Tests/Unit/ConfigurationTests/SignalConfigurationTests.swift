import Bridge
import Testing
import Text

@testable import Configuration

@Suite("Signals of the configuration")
struct SignalConfigurationTests {
    private static let patterns = "solid, breathing, pulsing, single_blink, double_blink, triple_blink"

    private func lines(_ signals: String) -> [String] {
        errorLines(
            ConfigurationReader.read(
                WrittenConfiguration(yaml: Array("signals:\n\(signals)".utf8)), file: "x.yaml", environment: [:],
                hostName: "Attic",
                readPassword: { _ throws(Rejection) in Secret(value: "") }, reflexProblem: ReflexRequest.problem(with:))
        )
    }

    @Test("list the patterns that a signal can have", arguments: ["x", "custom"])
    func pattern(word: String) {
        #expect(
            lines("- {name: a, led: {color: red, pattern: \(word)}}") == [
                #"x.yaml:2:40: signals.0.led.pattern: "\#(word)" is no pattern of a signal; allowed: \#(Self.patterns)"#
            ])
        #expect(lines("- {name: a, led: {color: red, pattern: blink}}") == [])
    }

    @Test("with one value in the place of led have one error")
    func led() {
        #expect(
            lines("- {name: a, led: red}") == [
                "x.yaml:2:18: signals.0.led: one value where keys belong; allowed: color, pattern, duration_ms"
            ])
    }

    @Test("do something", arguments: ["- {name: a}", "- {name: a, led: }", "- {name: a, led: {pattern: solid}}"])
    func neither(item: String) {
        #expect(
            lines(item) == [
                "x.yaml:2:3: signals.0: the signal has neither; allowed: led with a color, haptic, or both"
            ])
    }
}
