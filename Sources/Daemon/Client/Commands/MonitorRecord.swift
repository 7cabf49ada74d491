import JSON

/// One message that `monitor` has seen.
struct MonitorRecord: Hashable, Sendable {
    /// Where it was published.
    let topic: String
    /// What.
    let payload: [UInt8]
    /// Whether it has the retain flag.
    let isRetained: Bool
    /// Whether it was there before the monitor.
    let isInitial: Bool
    /// When it came, in milliseconds since 1970.
    let time: Int64

    /// For machines: `{"time","topic","payload","retained","initial"}`; a payload that is not JSON is a string.
    var document: JSONValue {
        [
            "time": .string(ClockText.utc(time)), "topic": .string(topic), "payload": JSONValue(payload: payload),
            "retained": .bool(isRetained), "initial": .bool(isInitial),
        ]
    }
}
