/// What is counted of a tag since the bridge's start.
struct TagCounters: Sendable {
    /// Gestures by name.
    var gestures = GestureCounts()
    /// The number of the last gesture; 0 before the first.
    var lastSequence: UInt64 = 0
    /// Gestures that grew too old while the broker was away.
    var expired: UInt64 = 0
    /// Packets thrown away because a fragment was missing.
    var lostFragments: UInt64 = 0
    /// How often the tag came back.
    var reconnects: UInt64 = 0
}
