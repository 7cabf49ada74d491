import JSON

/// Encodes `T/gesture` without a JSON encoder: up to tens of thousands of gestures arrive per second, and an encoder takes
/// microseconds for each.
///
/// The bytes equal those of an encoder with sorted keys: `boot`, `bridge`, `event_type`, `gesture`, `seq`, `time`.
struct GesturePayload: Sendable {
    /// For each name, the bytes before the gesture's number.
    private let prefixes: [[UInt8]]
    private var time = TimeText()

    private static let sequenceKey = Array(#","seq":"#.utf8)
    private static let timeKey = Array(#","time":""#.utf8)
    private static let end = Array(#""}"#.utf8)

    init(boot: String, bridge: String) {
        let boot = String(decoding: JSONText.bytes(of: boot), as: UTF8.self)
        let bridge = String(decoding: JSONText.bytes(of: bridge), as: UTF8.self)
        prefixes = GestureName.allCases.map { name in
            Array(#"{"boot":\#(boot),"bridge":\#(bridge),"event_type":"\#(name.rawValue)","gesture":"#.utf8)
        }
    }

    /// Returns the payload of one gesture.
    mutating func bytes(name: GestureName, number: UInt32, sequence: UInt64, at now: Moment) -> [UInt8] {
        let prefix = prefixes[name.index]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(prefix.count + 80)
        bytes.append(contentsOf: prefix)
        bytes.append(decimal: UInt64(number))
        bytes.append(contentsOf: Self.sequenceKey)
        bytes.append(decimal: sequence)
        bytes.append(contentsOf: Self.timeKey)
        time.append(now.unixMilliseconds, to: &bytes)
        bytes.append(contentsOf: Self.end)
        return bytes
    }
}
