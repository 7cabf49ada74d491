import JSON
import JacquardProtocol
import Text

/// The steps of a checkup, in order. What the bridge does not offer, such as firmware updates, has no step.
enum CheckupTable {
    /// All steps.
    static let steps: [CheckupStep] =
        connecting + reading + lights + [touchMode, touch, slides, gestureMode] + store + gestures + handling + [
            sleep, wake,
        ]

    // MARK: Obstacles

    private static func needsGear(_ capability: String? = nil) -> @Sendable (CheckupFacts) -> String? {
        { facts in
            guard facts.isAttached else { return "no gear is attached" }
            return capability.map(facts.mayHave) ?? true ? nil : "the gear has no such capability"
        }
    }

    // MARK: Connection

    /// A tag that is disabled accepts `disconnect`, which is stored, but no `connect`.
    private static let isDisabled: @Sendable (CheckupFacts) -> String? = { facts in
        facts["connection"]?["why"]?.string?.hasPrefix("disabled in the configuration") == true
            ? "the tag is disabled in the configuration" : nil
    }

    private static let connecting = [
        CheckupStep(
            name: "disconnect", title: "disconnect", work: .command("connection/set", ["connection": "disconnect"]),
            needsTag: false, obstacle: isDisabled,
            judge: result { _, _ in .works("") }),
        CheckupStep(
            name: "connect", title: "connect", work: .command("connection/set", ["connection": "connect"]),
            needsTag: false, obstacle: isDisabled,
            judge: result { result, facts in
                let attempts = facts["connection"]?["attempt"]?.integer ?? 1
                let time = result["took_ms"]?.integer.map { "\($0) ms" } ?? ""
                return attempts > 1 ? .differs("\(attempts) attempts, \(time)") : .works(time)
            }),
    ]

    // MARK: Values

    private static let reading = [
        CheckupStep(
            name: "information", title: "tag information", work: .command("info/get", [:]),
            judge: result { result, _ in information(result["data"]) }),
        CheckupStep(
            name: "name", title: "tag name", work: .look,
            judge: { _, facts in
                guard let name = facts["info"]?["tag_name"]?.string else { return .missing("no name") }
                return BLEConfiguration.nameByteCounts.contains(name.utf8.count)
                    ? .works(counted(name.utf8.count, "byte"))
                    : .differs("\(counted(name.utf8.count, "byte")), expected 1 to 21")
            }),
        CheckupStep(
            name: "battery", title: "battery on request", work: .command("battery/get", [:]),
            judge: result { result, _ in battery(result["data"]) }),
        CheckupStep(
            name: "rssi", title: "signal strength", work: .command("rssi/get", [:]),
            judge: result { result, _ in
                guard let rssi = result["data"]?["rssi"]?.integer else { return .differs("no number") }
                return (-127...20).contains(rssi) ? .works("\(rssi) dBm") : .differs("\(rssi) dBm")
            }),
        CheckupStep(
            name: "modules", title: "loadable modules", work: .command("info/get", ["component": "modules"]),
            judge: result { result, _ in modules(result["data"]?["modules"]?.elements ?? []) }),
        CheckupStep(
            name: "gear", title: "gear information", work: .look, obstacle: needsGear(),
            judge: { _, facts in gear(facts["gear"]) }),
    ]

    private static func information(_ data: JSONValue?) -> CheckupVerdict {
        let missing = ["firmware", "vendor_id", "product_id", "uuid"].filter { data?[$0]?.string == nil }
        guard missing.isEmpty else { return .differs("without \(missing.joined(separator: ", "))") }
        let firmware = data?["firmware"]?.string ?? ""
        let ids = ["vendor_id", "product_id"].compactMap { data?[$0]?.string }
        if ids != expectedIDs {
            return .differs("firmware \(firmware), vendor and product \(ids.joined(separator: ", "))")
        }
        return .works("firmware \(firmware)")
    }

    /// Vendor and product of every known tag. Source: JacquardSDKiOS, test fixtures.
    private static let expectedIDs = ["11-78-30-c8", "28-3b-e7-a0"]

    private static func battery(_ data: JSONValue?) -> CheckupVerdict {
        guard let level = data?["level"]?.integer, let isCharging = data?["charging"]?.flag else {
            return .differs("without a level or the state of charging")
        }
        guard (0...100).contains(level) else { return .differs("\(level) %") }
        return .works("\(level) %, \(isCharging ? "charging" : "not charging")")
    }

    private static func modules(_ modules: [JSONValue]) -> CheckupVerdict {
        let texts = modules.map { module in
            let state = module["enabled"]?.flag == true ? "enabled" : "not enabled"
            return "\(module["name"]?.string ?? "no name") \(module["firmware"]?.string ?? "no version"), \(state)"
        }
        return .works(texts.isEmpty ? "none" : texts.joined(separator: "; "))
    }

    private static func gear(_ gear: JSONValue?) -> CheckupVerdict {
        let ids = ["vendor_id", "product_id"].map { gear?[$0]?.string ?? "none" }.joined(separator: " / ")
        guard let product = gear?["product"]?.string else { return .differs("unknown product \(ids)") }
        let capabilities = (gear?["capabilities"]?.elements ?? []).compactMap(\.string)
        return .works(
            "\(product), firmware \(gear?["firmware"]?.string ?? "unknown"): \(capabilities.joined(separator: ", "))")
    }

    // MARK: LED and motor

    private static let lights = [
        CheckupStep(
            name: "led", title: "LED of the tag", question: "Did the LED of the tag light up green?",
            contradiction: "the tag has responded, but the LED did not light up",
            work: .command("led/set", ["color": "#00ff00", "duration_ms": 3_000, "component": "tag"]),
            judge: result { _, _ in .works("") }),
        CheckupStep(
            name: "gear_led", title: "LED of the gear", question: "Did the LED of the gear light up blue?",
            contradiction: "the gear has responded, but the LED did not light up",
            work: .command("led/set", ["color": "#0000ff", "duration_ms": 3_000, "component": "gear"]),
            obstacle: needsGear("led"), judge: result { _, _ in .works("") }),
        CheckupStep(
            name: "haptic", title: "haptics of the gear", question: "Did the gear vibrate?",
            contradiction: "the gear has responded, but did not vibrate",
            work: .command("haptic/set", ["pattern": "short"]), obstacle: needsGear("haptic"),
            judge: result { _, _ in .works("") }),
    ]

    // MARK: Touch

    private static let touchMode = CheckupStep(
        name: "touch_mode", title: "continuous touch mode",
        work: .command("touch_mode/set", ["touch_mode": "continuous"]), obstacle: needsGear("touch_data_stream"),
        judge: result { _, _ in .works("") })

    private static let touch = CheckupStep(
        name: "touch", title: "touch data", instruction: "Move a finger over the woven lines of the gear",
        work: .observe("touch"), limit: CheckupStep.ownerLimit,
        obstacle: isStreaming,
        judge: { message, _ in
            let lines = message["lines"]?.elements?.count ?? 0
            return lines == 12 ? .works("12 lines") : .differs("\(lines) lines, expected 12")
        })

    /// The samples are in the recording of the report: how real gear reports a slide is unknown.
    private static let slides = CheckupStep(
        name: "slides", title: "slides",
        instruction: "Slide a finger over all woven lines ten times, fast and slowly, and lift it after each time",
        work: .observe("touch"), limit: .seconds(60), obstacle: isStreaming,
        unfinished: { facts in facts.slides.samples == 0 ? nil : .differs(facts.slides.text) },
        judge: { _, facts in facts.slides.places.count >= CheckupSlides.wanted ? .works(facts.slides.text) : nil })

    private static let isStreaming: @Sendable (CheckupFacts) -> String? = { facts in
        if let obstacle = needsGear("touch_data_stream")(facts) { return obstacle }
        // The result precedes the message on `touch_mode`.
        return facts["touch_mode/result"]?["status"] == "ok" ? nil : "the gear is not in continuous mode"
    }

    private static let gestureMode = CheckupStep(
        name: "gesture_mode", title: "gesture touch mode",
        work: .command("touch_mode/set", ["touch_mode": "gesture"]), obstacle: needsGear("touch_data_stream"),
        judge: result { _, _ in .works("") })

    // MARK: Store

    private static let key = "jacquard2mqtt"

    private static let store = [
        CheckupStep(
            name: "store_write", title: "store, write",
            work: .command("config/set", ["key": .string(key), "type": "uint32", "value": 7]),
            judge: result { _, _ in .works("") }),
        CheckupStep(
            name: "store_read", title: "store, read", work: .command("config/get", ["key": .string(key)]),
            judge: result { result, _ in
                let (type, value) = (result["data"]?["type"]?.word, result["data"]?["value"]?.word)
                let found = "\(type ?? "no type") \(value ?? "no value")"
                return found == "uint32 7" ? .works(found) : .differs("\(found), expected uint32 7")
            }),
    ]

    // MARK: The owner's hands

    private static let gestures = [
        ("brush_in", "Brush over the woven lines, towards yourself"),
        ("brush_out", "Brush over the woven lines, away from yourself"),
        ("double_tap", "Tap the woven lines twice"),
        ("cover", "Cover the woven lines with your hand, and take it away"),
    ].map { gesture, instruction in
        CheckupStep(
            name: gesture, title: "gesture \(gesture)", instruction: instruction, work: .observe("gesture"),
            limit: CheckupStep.ownerLimit, obstacle: needsGear("gesture"),
            judge: { message, _ in
                let type = message["event_type"]?.string ?? "nothing"
                let number = message["gesture"]?.word ?? "none"
                return type == gesture ? .works("") : .differs("\(type), number \(number)")
            })
    }

    private static let handling = [
        CheckupStep(
            name: "detach", title: "detaching the gear", instruction: "Take the tag out of its gear",
            work: .observe("gear"), limit: CheckupStep.ownerLimit, obstacle: needsGear(),
            judge: { message, _ in message["attached"]?.flag == false ? .works("") : nil }),
        CheckupStep(
            name: "attach", title: "attaching the gear", instruction: "Put the tag into its gear",
            work: .observe("gear"),
            limit: CheckupStep.ownerLimit,
            obstacle: { facts in facts.isAttached ? "gear is attached" : nil },
            judge: { message, _ in message["attached"]?.flag == true ? gear(message) : nil }),
        CheckupStep(
            name: "charging", title: "charging", instruction: "Connect the tag to its charger",
            work: .observe("battery"),
            limit: .seconds(60),
            obstacle: { facts in facts["battery"]?["charging"]?.flag == true ? "it is charging already" : nil },
            judge: { message, _ in message["charging"]?.flag == true ? battery(message) : nil }),
    ]

    private static let sleep = CheckupStep(
        name: "sleep", title: "sleep on request", needsOwner: true,
        work: .command("sleep/set", ["timeout_s": 0, "wake_on_motion": true]),
        judge: result { _, _ in .works("") })

    private static let wake = CheckupStep(
        name: "wake", title: "waking by motion",
        instruction: "The tag should sleep now. Lay it down for five seconds, then move it",
        work: .observe("connection"),
        limit: .seconds(90), needsTag: false,
        obstacle: { facts in facts["sleep/result"]?["status"] == "ok" ? nil : "the tag does not sleep" },
        judge: { message, _ in message["state"]?.string == "connected" ? .works("") : nil })

    /// Judges the result of a command: a failure by its code, a success by the given rule.
    private static func result(
        _ judge: @escaping @Sendable (JSONValue, CheckupFacts) -> CheckupVerdict
    ) -> @Sendable (JSONValue, CheckupFacts) -> CheckupVerdict? {
        { result, facts in
            switch result["status"]?.string {
            case "ok": judge(result, facts)
            case "error": CheckupVerdict(failure: result)
            default: nil
            }
        }
    }
}
