import FoundationEssentials

/// `T/gesture`, as far as it is checked.
struct GestureTold: Decodable {
    let gesture: UInt32
    let boot: String
    let seq: UInt64
    let time: String
}

/// `T/stats`, as far as it is checked.
struct StatsTold: Decodable {
    let boot: String
    let lastSequence: UInt64
    let expired: Int

    private enum CodingKeys: String, CodingKey {
        case boot, expired
        case lastSequence = "last_seq"
    }
}

/// `T/connection`, as far as it is checked.
struct ConnectionTold: Decodable {
    let state: String
}

/// `T/gear`, as far as it is checked.
struct GearTold: Decodable {
    let attached: Bool
    let product: String?
}

/// `T/battery`, as far as it is checked.
struct BatteryTold: Decodable {
    let level: Int
    let charging: Bool
}

/// A result of a command, as far as it is checked.
struct ResultTold: Decodable {
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
}

/// Reads a JSON document; nil when it is none of that kind.
func document<Document: Decodable>(_ type: Document.Type, _ bytes: some Sequence<UInt8>) -> Document? {
    try? JSONDecoder().decode(type, from: Data(bytes))
}
