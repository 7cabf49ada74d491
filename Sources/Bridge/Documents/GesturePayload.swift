import JSON

/// Writes `T/gesture` by hand: gestures come by the ten thousand a second, and an encoder takes microseconds.
///
/// The bytes are those of an encoder with sorted keys: `boot`, `bridge`, `event_type`, `gesture`, `seq`, `time`.
struct GesturePayload: Sendable {
    /// For each name, everything up to the number of the gesture.
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

    /// The payload of one gesture.
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
