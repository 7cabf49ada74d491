import FoundationEssentials

/// `T/gesture`, as far as it is checked.
struct GestureDocument: Decodable {
    let gesture: UInt32
    let boot: String
    let seq: UInt64
    let time: String
}

/// `T/stats`, as far as it is checked.
struct StatsDocument: Decodable {
    let boot: String
    let lastSequence: UInt64
    let expired: Int

    private enum CodingKeys: String, CodingKey {
        case boot, expired
        case lastSequence = "last_seq"
    }
}

/// `T/connection`, as far as it is checked.
struct ConnectionDocument: Decodable {
    let state: String
}

/// `T/gear`, as far as it is checked.
struct GearDocument: Decodable {
    let attached: Bool
    let product: String?
}

/// `T/battery`, as far as it is checked.
struct BatteryDocument: Decodable {
    let level: Int
    let charging: Bool
}

/// A result of a command, as far as it is checked.
struct ResultDocument: Decodable {
    struct Failure: Decodable {
        let code: String
        let text: String
    }

    let id: String?
    let status: String
    let final: Bool
    let error: Failure?
    let tookMilliseconds: Int

    private enum CodingKeys: String, CodingKey {
        case id, status, final, error
        case tookMilliseconds = "took_ms"
    }
}

/// The time of a gesture or of a result.
struct TimeDocument: Decodable {
    let time: String
}

/// A line of the simulator with `--json`.
struct SimulatorLine: Decodable {
    let event: String
    let tag: String?
    let command: String?
    let error: String?
    let sent: Int?
    let dropped: Int?
    let state: String?
    let battery: Int?
    let charging: Bool?
    let gear: String?
    let channel: String?
    let touchMode: String?

    enum CodingKeys: String, CodingKey {
        case event, tag, command, error, sent, dropped, state, battery, charging, gear, channel
        case touchMode = "touch_mode"
    }
}

/// Reads a JSON document; nil when it is none of that kind.
func decoded<Document: Decodable>(_ type: Document.Type, _ bytes: some Sequence<UInt8>) -> Document? {
    try? JSONDecoder().decode(type, from: Data(bytes))
}
