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
        let scene = Scene.connected()
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
        let scene = Scene.connected()
        scene.send("tag/003R/" + command, payload)
        #expect(scene.performed == [])
        #expect(scene.lastError == ResultError(code: "invalid_argument", text: text, hint: nil, retryable: false))
    }

    @Test("name keys that the command does not have in the data of the final result")
    func ignoredKeys() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"color":"red","patern":"breathing","x":1,"id":"a","transition":2,"y":null}"#)
        scene.answer()
        let keys =
            "id, ttl_ms, state, color, brightness, effect, flash, pattern, duration_ms, frames, halt_all, "
            + "component, play, resumable, transition"
        #expect(
            scene.publications.last { $0.topic.hasSuffix("led/result") }?.text.contains(
                #""data":{"ignored":{"patern":"did you mean pattern?","x":"unknown; the keys are \#(keys)"}}"#) == true)
        scene.send("tag/003R/haptic/set", #"{"patern":"short"}"#)
        #expect(
            scene.publications.last?.text.contains(#""data":{"ignored":{"patern":"did you mean pattern?"}}"#) == true)
        scene.send("tag/003R/no/set", #"{"patern":"short"}"#)
        #expect(scene.publications.last?.text.contains(#""data":{}"#) == true)
        scene.send("bridge/attic/request/health", #"{"level":1}"#)
        #expect(!scene.publications.contains { $0.text.contains(#""ignored":{"level""#) })
        scene.done(.measured(HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)))
        #expect(
            scene.publications.contains { $0.text.contains(#""ignored":{"level""#) && $0.text.contains("uptime_s") })
        let many = (0..<100).map { #""key\#($0)\#(String(repeating: "x", count: 20))":1"# }.joined(separator: ",")
        scene.send("tag/003R/battery/get", "{\(many)}")
        scene.answer(.battery(BatteryStatus(level: 7, isCharging: false)))
        #expect(
            scene.publications.last { $0.topic.hasSuffix("battery/result") }?.text.ranges(of: "unknown;").count == 8)
    }

    @Test("read each of their keys")
    func knownKeys() {
        // Home Assistant sends `transition`, which a tag does not support; `id` of forget is the tag in one form only.
        let unread: Set<String> = ["transition", "id"]
        let others = #""key":"k","type":"uint32","value":1,"pattern":"short","serial":"0001""#
        let requests =
            TagRequestTable.rows.map { ("tag/003R/", $0.name, $0.keys) }
            + BridgeRequestTable.rows.map { ("bridge/attic/request/", $0.name, $0.keys) }
        for (prefix, name, keys) in requests {
            for key in keys where !unread.contains(key) {
                let scene = Scene.connected()
                scene.powerOn()
                scene.send(prefix + name, #"{"\#(key)":[{}],\#(others)}"#)
                #expect(scene.lastError?.text.isEmpty == false, "\(name): \(key)")
            }
        }
    }

    @Test("publish the new state when the tag has responded")
    func answers() {
        let scene = Scene.connected()
        scene.send("tag/003R/touch_mode/set", "continuous")
        #expect(scene.answer().last == "jacquard/tag/003R/touch_mode continuous")
        scene.send("tag/003R/haptic/set", "short")
        #expect(scene.answer().count == 1)
        scene.send("tag/003R/battery/get", "")
        #expect(
            scene.answer(.battery(BatteryStatus(level: 42, isCharging: true))) == [
                #"jacquard/tag/003R/battery/result {"bridge":"attic","#
                    + #""data":{"charging":true,"level":42,"low":false,"time":"2026-11-20T10:15:02.114Z"},"error":null,"#
                    + #""final":true,"id":null,"status":"ok","time":"2026-11-20T10:15:02.114Z","took_ms":0}"#,
                #"jacquard/tag/003R/battery {"charging":true,"level":42,"low":false,"time":"2026-11-20T10:15:02.114Z"}"#,
                "jacquard/tag/003R/battery/level 42",
            ])
    }
}
