/// The counters of a tag since the start of the bridge.
struct TagCounters: Sendable {
    /// Number of gestures by name.
    var gestures = GestureCounts()
    /// The sequence number of the last gesture; 0 before the first.
    var lastSequence: UInt64 = 0
    /// Number of gestures that expired while the broker was away.
    var expired: UInt64 = 0
    /// Number of packets dropped because a fragment was missing.
    var lostFragments: UInt64 = 0
    /// Number of reconnects.
    var reconnects: UInt64 = 0
}
