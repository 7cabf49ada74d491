import JSON

/// Encodes `T/stats` without an encoder, as ``GesturePayload`` does: with many tags most publications are statistics.
///
/// The bytes equal those of an encoder with sorted keys: `boot`, `expired`, `gestures`, `last_seq`, `lost_fragments`,
/// `reconnects`, `time`. A subscriber can use them to verify that it received every gesture.
struct StatsPayload: Sendable {
    /// The bytes before the first number.
    private let prefix: [UInt8]

    init(boot: String) {
        prefix = Array(#"{"boot":\#(String(decoding: JSONText.bytes(of: boot), as: UTF8.self)),"expired":"#.utf8)
    }

    /// Returns the payload for the counters of one tag.
    func bytes(of counters: TagCounters, at now: Moment) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(prefix.count + 120)
        bytes.append(contentsOf: prefix)
        bytes.append(decimal: counters.expired)
        bytes.append(contentsOf: #","gestures":{"#.utf8)
        for (index, name) in counters.gestures.made.enumerated() {
            bytes.append(contentsOf: index == 0 ? "\"".utf8 : ",\"".utf8)
            bytes.append(contentsOf: name.rawValue.utf8)
            bytes.append(contentsOf: "\":".utf8)
            bytes.append(decimal: counters.gestures[name])
        }
        bytes.append(contentsOf: #"},"last_seq":"#.utf8)
        bytes.append(decimal: counters.lastSequence)
        bytes.append(contentsOf: #","lost_fragments":"#.utf8)
        bytes.append(decimal: counters.lostFragments)
        bytes.append(contentsOf: #","reconnects":"#.utf8)
        bytes.append(decimal: counters.reconnects)
        bytes.append(contentsOf: #","time":""#.utf8)
        var time = TimeText()
        time.append(now.unixMilliseconds, to: &bytes)
        bytes.append(contentsOf: #""}"#.utf8)
        return bytes
    }
}
