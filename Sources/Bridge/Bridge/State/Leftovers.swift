import Time

/// Retained messages of tags, names and features that no longer exist, and what is to be known to clear them.
struct Leftovers: Sendable {
    /// The topics of earlier runs.
    var former: FormerTopics
    var departures = Departures()
    /// The retained topics of departures at a broker that the bridge is leaving.
    var departed: [String] = []
    /// The places at which earlier runs have published; empty when it was taken back.
    var places: [PublishedPlace]
    /// Announcements that earlier runs may have left, and that are withdrawn if they are retained.
    var announcements: Set<String> = []
    /// The tags without topics.
    var takenIDs = TakenIDs()

    init(instance: String, base: String, _ earlier: EarlierRuns) {
        former = FormerTopics(instance: instance, base: base, earlier)
        places = earlier.places
    }

    /// When something becomes due; nil if nothing is.
    var deadline: Instant? {
        var deadline = former.deadline
        deadline.lower(to: departures.deadline)
        return deadline
    }
}
