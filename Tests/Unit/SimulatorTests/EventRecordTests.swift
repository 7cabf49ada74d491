import JacquardProtocol
import TagFirmware
import Testing

@testable import Simulator

@Suite("Simulator: output")
struct EventRecordTests {
    private static let red = LEDPattern.Color(red: 255, green: 0, blue: 0)

    static let events: [(SimulatorEvent.Kind, String, String)] = [
        (
            .effect(.led(.predefined(.solid, color: red, durationMilliseconds: 1000), on: .tag)),
            ##"{"color":"#ff0000","component":"tag","duration_ms":1000,"event":"led","##
                + ##""frames":[{"color":"#ff0000","duration_ms":1000}],"halt_all":false,"pattern":"solid","##
                + ##""play":"play","resumable":false,"tag":"0001"}"##,
            "0001 LED of the tag: solid #ff0000 for 1000 ms"
        ),
        (
            .effect(
                .haptic(
                    HapticPattern(
                        symbol: .sineIncrease, onMilliseconds: 200, offMilliseconds: 100, maxAmplitudePercent: 60,
                        repeatNMinusOne: 2))),
            #"{"amplitude":60,"event":"haptic","off_ms":100,"on_ms":200,"pattern":"sine_increase","repeat":2,"tag":"0001"}"#,
            "0001 motor: sine_increase 200 ms on, 100 ms off, 60 %, 3 times"
        ),
        (.effect(.renamed("Ä\"")), #"{"event":"renamed","name":"Ä\"","tag":"0001"}"#, #"0001 renamed to "Ä"""#),
        (
            .effect(.touchMode(.continuous)), #"{"event":"touch_mode","mode":"continuous","tag":"0001"}"#,
            "0001 touch mode continuous"
        ),
        (
            .effect(.stored(ConfigElement(key: "k", value: .int32(-7)))),
            #"{"event":"stored","key":"k","tag":"0001","value":-7}"#, #"0001 stored "k""#
        ),
        (
            .effect(.disconnect(seconds: 3, onlyMovementWakes: true)),
            #"{"event":"disconnect","tag":"0001","timeout_s":3,"wake_on_motion":true}"#,
            "0001 to disconnect in 3 s until it is moved"
        ),
        (.connected, #"{"event":"connected","tag":"0001"}"#, "0001 connected"),
        (.disconnected, #"{"event":"disconnected","tag":"0001"}"#, "0001 disconnected"),
        (
            .subscribed(.rawData, isOn: true), #"{"channel":"raw","event":"subscribed","tag":"0001"}"#,
            "0001 subscribed to raw"
        ),
        (
            .burst(sent: 5, dropped: 2), #"{"dropped":2,"event":"burst","sent":5,"tag":"0001"}"#,
            "0001 made 5, dropped 2"
        ),
    ]

    @Test("shows an event as JSON and for people", arguments: events)
    func shows(kind: SimulatorEvent.Kind, json: String, text: String) {
        let event = SimulatorEvent(tag: "0001", kind: kind)
        #expect(SimulatorOutput.text(of: EventRecord.members(of: event)) == json)
        #expect(EventText.line(for: event) == text)
    }

    @Test("has a unique word for each pattern and symbol")
    func words() {
        #expect(Set(LEDPattern.Kind.allCases.map(\.word)).count == LEDPattern.Kind.allCases.count)
        #expect(Set(HapticPattern.Symbol.allCases.map(\.word)).count == HapticPattern.Symbol.allCases.count)
    }

    @Test("the columns of the list are aligned")
    func columns() {
        let rows = [["0001", "connected", "42 %"], ["003R", "out_of_range", "7 %"], ["1", "asleep", "100 %"]]
        #expect(
            SimulatorOutput.aligned(rows) == [
                "0001  connected     42 %", "003R  out_of_range  7 %", "1     asleep        100 %",
            ])
        #expect(SimulatorOutput.aligned([]).isEmpty)
    }
}
