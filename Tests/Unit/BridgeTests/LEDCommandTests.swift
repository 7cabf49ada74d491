import JacquardProtocol
import Testing

@testable import Bridge

@Suite("led/set")
struct LEDCommandTests {
    @Test("accepts all documented forms", arguments: LEDForm.all)
    func pattern(of form: LEDForm) {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", form.payload)
        #expect(scene.performed == [.playLEDPattern(form.pattern, on: form.target)])
        #expect(scene.answer().first?.contains(#""status":"ok""#) == true)
    }

    @Test(
        "accepts each pattern by the SDK's name and by Home Assistant's",
        arguments: [
            ("solid", .solid), ("breathing", .breathing), ("pulsing", .pulsing), ("single_blink", .singleBlink),
            ("double_blink", .doubleBlink), ("triple_blink", .tripleBlink), ("breathe", .breathing),
            ("pulse", .pulsing), ("blink", .singleBlink),
        ] as [(String, LEDPattern.Kind)], ["pattern", "effect"])
    func patterns(word: (String, LEDPattern.Kind), key: String) {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"\#(key)":"\#(word.0)","duration_ms":7}"#)
        #expect(
            scene.performed
                == [.playLEDPattern(.predefined(word.1, color: .white, durationMilliseconds: 7), on: .tag)])
    }

    @Test(
        "rejects an invalid value with the allowed ones",
        arguments: [
            (
                #"{"pattern":"blinky"}"#,
                #""pattern" is "blinky"; it may be solid, breathing, pulsing, single_blink, double_blink, triple_blink, custom"#
            ),
            (
                #"{"state":"ON","effect":"nonsense"}"#,
                #""effect" is "nonsense"; it may be solid, breathe, pulse, blink, double_blink, triple_blink"#
            ),
            (#"{"state":"OFF","brightness":"x"}"#, #""brightness" is "x"; it may be 0 to 255"#),
            (
                #"{"halt_all":true,"effect":1}"#,
                #""effect" is 1; it may be solid, breathe, pulse, blink, double_blink, triple_blink"#
            ),
            (#"{"state":"ONN"}"#, #""state" is "ONN"; it may be ON, OFF"#),
            (#"{"state":true}"#, #""state" is true; it may be ON, OFF"#),
            (#"{"state":"ON","brightness":256}"#, #""brightness" is 256; it may be 0 to 255"#),
            (#"{"state":"ON","brightness":-1}"#, #""brightness" is -1; it may be 0 to 255"#),
            (#"{"state":"ON","brightness":"full"}"#, #""brightness" is "full"; it may be 0 to 255"#),
            (#"{"state":"ON","brightness":1.5}"#, #""brightness" is 1.5; it may be 0 to 255"#),
            (
                #"{"color":"reddish"}"#,
                ##""color" is "reddish"; it may be a name (red, green, blue, yellow, cyan, magenta, orange, purple, pink, white), a text such as "#ff8000", or r, g and b, each 0 to 255"##
            ),
            (
                ##"{"color":"#ff00"}"##,
                ##""color" is "#ff00"; it may be a name (red, green, blue, yellow, cyan, magenta, orange, purple, pink, white), a text such as "#ff8000", or r, g and b, each 0 to 255"##
            ),
            (
                ##"{"color":"#+f0000"}"##,
                ##""color" is "#+f0000"; it may be a name (red, green, blue, yellow, cyan, magenta, orange, purple, pink, white), a text such as "#ff8000", or r, g and b, each 0 to 255"##
            ),
            (
                #"{"color":{"r":256,"g":0,"b":0}}"#,
                ##""color" is an object; it may be a name (red, green, blue, yellow, cyan, magenta, orange, purple, pink, white), a text such as "#ff8000", or r, g and b, each 0 to 255"##
            ),
            (
                #"{"color":[1,2,3]}"#,
                ##""color" is a list; it may be a name (red, green, blue, yellow, cyan, magenta, orange, purple, pink, white), a text such as "#ff8000", or r, g and b, each 0 to 255"##
            ),
            (#"{"pattern":"solid","duration_ms":0}"#, #""duration_ms" is 0; it may be 1 to 86400000"#),
            (#"{"pattern":"solid","duration_ms":86400001}"#, #""duration_ms" is 86400001; it may be 1 to 86400000"#),
            (#"{"state":"ON","flash":"short"}"#, #""flash" is "short"; it may be 0.001 to 86400 seconds"#),
            (#"{"state":"ON","flash":0}"#, #""flash" is 0; it may be 0.001 to 86400 seconds"#),
            (#"{"flash":0.0009}"#, #""flash" is 0.0009; it may be 0.001 to 86400 seconds"#),
            (#"{"flash":86400.0001}"#, #""flash" is 86400.0001; it may be 0.001 to 86400 seconds"#),
            (#"{"state":"ON","flash":1e300}"#, #""flash" is 1e+300; it may be 0.001 to 86400 seconds"#),
            (##"{"color":"#ff0000","component":"sleeve"}"##, #""component" is "sleeve"; it may be tag, gear"#),
            (#"{"pattern":"solid","play":"twice"}"#, #""play" is "twice"; it may be play, toggle"#),
            (#"{"pattern":"solid","resumable":1}"#, #""resumable" is 1; it may be true or false"#),
            (#"{"halt_all":"yes"}"#, #""halt_all" is "yes"; it may be true or false"#),
            (#"{"pattern":"custom"}"#, #""pattern" is "custom", which needs "frames""#),
            (#"{"effect":"custom"}"#, #""effect" is "custom", which needs "frames""#),
            (#"{"frames":[]}"#, #""frames" is a list of 0; it may be a list of 1 to 50 objects"#),
            (#"{"frames":[1]}"#, #""frames" is a list; it may be a list of objects, and one element is 1"#),
            (#"{"frames":"red"}"#, #""frames" is "red"; it may be a list of 1 to 50 objects"#),
            (#"{"frames":[{"duration_ms":1}]}"#, ##""color" is missing; it may be such as "#ff8000""##),
            (##"{"frames":[{"color":"#000000"}]}"##, #""duration_ms" is missing; it may be a number of milliseconds"#),
            (
                ##"{"pattern":"breathing","frames":[{"color":"#000000","duration_ms":1}]}"##,
                #""pattern" is "breathing"; it may be custom where there are "frames""#
            ),
            (
                ##"{"effect":"blink","frames":[{"color":"#000000","duration_ms":1}]}"##,
                #""effect" is "blink"; it may be custom where there are "frames""#
            ),
            (
                #"{"halt_all":false}"#,
                "The command contains no action; the keys are state, color, brightness, effect, flash, pattern, duration_ms, "
                    + "frames, halt_all"
            ),
            (
                "{}",
                "The command contains no action; the keys are state, color, brightness, effect, flash, pattern, duration_ms, "
                    + "frames, halt_all"
            ),
            (
                "",
                "The command contains no action; the keys are state, color, brightness, effect, flash, pattern, duration_ms, "
                    + "frames, halt_all"
            ),
            (
                "bluish",
                #""payload" is "bluish"; it may be on, off, flash, a colour such as red or #ff8000, or a JSON object"#
            ),
            ("17", #""payload" is "17"; it may be on, off, flash, a colour such as red or #ff8000, or a JSON object"#),
        ])
    func wrongValues(payload: String, text: String) {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", payload)
        #expect(scene.performed == [])
        #expect(scene.lastError == ResultError(code: "invalid_argument", text: text, hint: nil, retryable: false))
    }

    @Test("fits its longest pattern into a packet")
    func longestPattern() {
        let frame = ##"{"color":"#ffffff","duration_ms":86400000}"##
        let frames = Array(repeating: frame, count: 50).joined(separator: ",")
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"frames":[\#(frames)]}"#)
        guard case .playLEDPattern(let pattern, on: .tag)? = scene.performed.first else {
            Issue.record("no pattern")
            return
        }
        #expect(pattern.frames.count == 50)
        #expect(pattern.durationMilliseconds == 86_400_000)
    }
}
