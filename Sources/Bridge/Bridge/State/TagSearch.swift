import Time

/// The search for tags: what is received, the requested scan, and the pairings.
struct TagSearch: Sendable {
    var seen = SeenTags()
    var scan = ScanState()
    /// The tags found by the latest requested scan.
    var found = FoundTags()
    var pairing = PairingProgress()

    /// When something becomes due; nil if nothing is.
    var deadline: Instant? {
        var deadline = scan.until?.instant
        deadline.lower(to: found.deadline)
        deadline.lower(to: pairing.deadline)
        return deadline
    }
}
