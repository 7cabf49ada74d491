/// `T/stats`: with it a reader proves that no gesture was missed.
struct StatsDocument: Encodable {
    let boot: String
    let gestures: [String: UInt64]
    let lastSequence: UInt64
    let expired: Int
    let lostFragments: Int
    let reconnects: Int
    let time: String

    private enum CodingKeys: String, CodingKey {
        case boot, gestures, expired, reconnects, time
        case lastSequence = "last_seq"
        case lostFragments = "lost_fragments"
    }

    init(_ counters: TagCounters, boot: String, at now: Moment) {
        self.boot = boot
        gestures = counters.gestures.byName
        lastSequence = counters.lastSequence
        expired = counters.expired
        lostFragments = counters.lostFragments
        reconnects = counters.reconnects
        time = now.text
    }
}

/// What is counted of a tag since the bridge's start.
struct TagCounters: Sendable {
    /// Gestures by name.
    var gestures = GestureCounts()
    /// The number of the last gesture; 0 before the first.
    var lastSequence: UInt64 = 0
    /// Gestures that grew too old while the broker was away.
    var expired = 0
    /// Packets thrown away because a fragment was missing.
    var lostFragments = 0
    /// How often the tag came back.
    var reconnects = 0
}
