import JacquardProtocol
import Testing

@testable import Bridge

@Suite("haptic/set, touch_mode/set, battery/get")
struct CommandFormTests {
    private static func haptic(
        _ symbol: HapticPattern.Symbol, on: UInt16 = 200, off: UInt16 = 0, amplitude: UInt8 = 100, again: UInt8 = 0
    ) -> TagCommand {
        .playHaptic(
            HapticPattern(
                symbol: symbol, onMilliseconds: on, offMilliseconds: off, maxAmplitudePercent: amplitude,
                repeatNMinusOne: again))
    }

    @Test(
        "accept these forms",
        arguments: [
            ("haptic/set", "short", haptic(.constantOn)),
            ("haptic/set", "long", haptic(.constantOn, on: 1_000)),
            ("haptic/set", "stop", .playHaptic(.stop)),
            ("haptic/set", #"{"pattern":"short"}"#, haptic(.constantOn)),
            ("haptic/set", #"{"pattern":"halted"}"#, .playHaptic(.stop)),
            (
                "haptic/set",
                #"{"pattern":"sine_increase","on_ms":200,"off_ms":100,"amplitude":80,"repeat":2}"#,
                haptic(.sineIncrease, on: 200, off: 100, amplitude: 80, again: 1)
            ),
            ("haptic/set", #"{"pattern":"sine_decrease"}"#, haptic(.sineDecrease)),
            ("haptic/set", #"{"pattern":"linear_increase"}"#, haptic(.linearIncrease)),
            ("haptic/set", #"{"pattern":"linear_decrease"}"#, haptic(.linearDecrease)),
            ("haptic/set", #"{"pattern":"parabolic_increase"}"#, haptic(.parabolicIncrease)),
            ("haptic/set", #"{"pattern":"parabolic_decrease"}"#, haptic(.parabolicDecrease)),
            ("haptic/set", #"{"pattern":"constant_on","repeat":256}"#, haptic(.constantOn, again: 255)),
            (
                "haptic/set", #"{"pattern":"constant_on","on_ms":65535,"off_ms":65535,"amplitude":0}"#,
                haptic(.constantOn, on: .max, off: .max, amplitude: 0)
            ),
            ("touch_mode/set", "gesture", .setTouchMode(.gesture)),
            ("touch_mode/set", "continuous", .setTouchMode(.continuous)),
            ("touch_mode/set", #"{"touch_mode":"continuous","id":"x"}"#, .setTouchMode(.continuous)),
            ("battery/get", "", .batteryStatus),
            ("battery/get", "{}", .batteryStatus),
            ("battery/get", #"{"id":"x","ttl_ms":0}"#, .batteryStatus),
        ])
    func command(command: String, payload: String, expected: TagCommand) {
        var scene = Scene.connected()
        scene.send("tag/003R/" + command, payload)
        #expect(scene.performed == [expected])
    }

    private static let haptics =
        "short, long, stop, sine_increase, sine_decrease, linear_increase, linear_decrease, "
        + "parabolic_increase, parabolic_decrease, constant_on"

    @Test(
        "reject an invalid value with the allowed ones",
        arguments: [
            ("haptic/set", "buzz", #""payload" is "buzz"; it may be \#(haptics)"#),
            ("haptic/set", "", #""pattern" is missing; it may be \#(haptics)"#),
            ("haptic/set", #"{"on_ms":5}"#, #""pattern" is missing; it may be \#(haptics)"#),
            ("haptic/set", #"{"pattern":"sine"}"#, #""pattern" is "sine"; it may be \#(haptics)"#),
            ("haptic/set", #"{"pattern":"short","on_ms":65536}"#, #""on_ms" is 65536; it may be 0 to 65535"#),
            ("haptic/set", #"{"pattern":"short","off_ms":-1}"#, #""off_ms" is -1; it may be 0 to 65535"#),
            ("haptic/set", #"{"pattern":"short","amplitude":101}"#, #""amplitude" is 101; it may be 0 to 100"#),
            ("haptic/set", #"{"pattern":"stop","repeat":0}"#, #""repeat" is 0; it may be 1 to 256"#),
            ("touch_mode/set", "touch", #""payload" is "touch"; it may be gesture, continuous"#),
            ("touch_mode/set", "", #""touch_mode" is missing; it may be gesture, continuous"#),
            ("touch_mode/set", #"{"touch_mode":1}"#, #""touch_mode" is 1; it may be gesture, continuous"#),
            ("battery/get", "now", #""payload" is "now"; it may be empty, or an object with id and ttl_ms"#),
        ])
    func wrongValues(command: String, payload: String, text: String) {
        var scene = Scene.connected()
        scene.send("tag/003R/" + command, payload)
        #expect(scene.performed == [])
        #expect(scene.lastError == ResultError(code: "invalid_argument", text: text, hint: nil, retryable: false))
    }

    @Test("publish the new state when the tag has responded")
    func answers() {
        var scene = Scene.connected()
        scene.send("tag/003R/touch_mode/set", "continuous")
        #expect(scene.answer().last == "jacquard/tag/003R/touch_mode continuous")
        scene.send("tag/003R/haptic/set", "short")
        #expect(scene.answer().count == 1)
        scene.send("tag/003R/battery/get", "")
        #expect(
            scene.answer(.battery(BatteryStatus(level: 42, isCharging: true))) == [
                #"jacquard/tag/003R/battery/result {"bridge":"attic","#
                    + #""data":{"charging":true,"level":42,"time":"2026-11-20T10:15:02.114Z"},"error":null,"#
                    + #""final":true,"id":null,"status":"ok","time":"2026-11-20T10:15:02.114Z","took_ms":0}"#,
                #"jacquard/tag/003R/battery {"charging":true,"level":42,"time":"2026-11-20T10:15:02.114Z"}"#,
                "jacquard/tag/003R/battery/level 42",
            ])
    }
}
