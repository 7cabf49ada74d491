/// The commands that the soak gives, each with what it may do to the tag.
struct CommandRow {
    let weight: Int
    /// Behind the tag's prefix, or behind that of the bridge's requests.
    let topic: String
    let payload: String
    /// Whether a tag without trouble carries it out whatever it is clipped into.
    var isGood = false
    var hazard: TagView.Hazard?

    static let ofTags: [CommandRow] = [
        CommandRow(weight: 10, topic: "led/set", payload: "flash", isGood: true),
        CommandRow(weight: 4, topic: "led/set", payload: "off", isGood: true),
        CommandRow(
            weight: 8, topic: "led/set",
            payload: #"{"state":"ON","color":{"r":255,"g":0,"b":0},"brightness":200,"effect":"breathe","flash":1}"#,
            isGood: true),
        CommandRow(
            weight: 6, topic: "led/set", payload: ##"{"color":"#ff8800","pattern":"breathing","duration_ms":700}"##,
            isGood: true),
        CommandRow(
            weight: 4, topic: "led/set",
            payload: ##"{"frames":[{"color":"#ff0000","duration_ms":100}],"duration_ms":500,"play":"toggle"}"##,
            isGood: true),
        CommandRow(weight: 3, topic: "led/set", payload: #"{"halt_all":true}"#, isGood: true),
        CommandRow(weight: 3, topic: "led/set", payload: ##"{"color":"#00ff00","component":"gear"}"##),
        CommandRow(weight: 5, topic: "haptic/set", payload: "short"),
        CommandRow(
            weight: 3, topic: "haptic/set",
            payload: #"{"pattern":"sine_increase","on_ms":200,"off_ms":100,"amplitude":80,"repeat":2}"#),
        CommandRow(weight: 3, topic: "name/set", payload: "Left sleeve", hazard: .renamed),
        CommandRow(weight: 2, topic: "name/set", payload: #"{"name":"Sleeve"}"#, hazard: .renamed),
        CommandRow(weight: 8, topic: "battery/get", payload: "", isGood: true),
        CommandRow(weight: 4, topic: "rssi/get", payload: ""),
        CommandRow(weight: 4, topic: "info/get", payload: "", isGood: true),
        CommandRow(weight: 4, topic: "config/set", payload: #"{"key":"soak","type":"uint32","value":7}"#, isGood: true),
        CommandRow(weight: 3, topic: "config/get", payload: #"{"key":"soak"}"#),
        CommandRow(weight: 1, topic: "touch_mode/set", payload: "continuous", hazard: .continuous),
        CommandRow(weight: 2, topic: "touch_mode/set", payload: "gesture", hazard: .continuous),
        CommandRow(weight: 1, topic: "connection/set", payload: "disconnect", hazard: .held),
        CommandRow(weight: 2, topic: "connection/set", payload: "connect"),
        CommandRow(
            weight: 1, topic: "sleep/set", payload: #"{"timeout_s":1,"wake_on_motion":false}"#, hazard: .asleep),
        CommandRow(weight: 2, topic: "led/set", payload: ##"{"color":"#ff88"##),
        CommandRow(weight: 2, topic: "led/set", payload: #"{"color":7}"#),
        CommandRow(weight: 1, topic: "led/set", payload: "\u{0}\u{FFFF}"),
        CommandRow(weight: 1, topic: "led/set", payload: String(repeating: "x", count: 5000)),
        CommandRow(weight: 1, topic: "name/set", payload: "a name that is longer than twenty-one bytes"),
        CommandRow(weight: 2, topic: "dance/set", payload: "now"),
        CommandRow(weight: 1, topic: "config/get", payload: #"["key"]"#),
    ]

    /// Forgetting a tag is not among them: its numbers would begin again within one start of the bridge.
    static let ofBridge: [CommandRow] = [
        CommandRow(weight: 4, topic: "health", payload: ""),
        CommandRow(weight: 4, topic: "tags", payload: ""),
        CommandRow(weight: 2, topic: "scan", payload: #"{"duration_s":1,"duplicates":true}"#),
        CommandRow(weight: 1, topic: "scan", payload: "stop"),
        CommandRow(weight: 1, topic: "log_level", payload: "info"),
        CommandRow(weight: 1, topic: "log_level", payload: "loud"),
        CommandRow(weight: 1, topic: "pair", payload: #"{"serial":"7ZZZ","timeout_s":2}"#),
        CommandRow(weight: 1, topic: "forget", payload: #"{"tag":"7ZZZ"}"#),
        CommandRow(weight: 1, topic: "dance", payload: "now"),
    ]
}

/// The faults of tags that the soak plays.
enum FaultTable {
    static let all = [
        "drop-response once", "delay 700", "delay 9000 once", "double once", "wrong-id once", "status 3 once",
        "malformed once", "truncated once", "no-body once", "lost-fragment once", "hang once", "drop-response",
        "double",
        "no-write-with-response",
    ]

    static let gear = ["jacket", "backpack", "konnect-i", "patch-a0", "patch-b0"]
}
