import JacquardProtocol

/// The tags without topics, because other tags have their ids.
struct TakenIDs: Sendable {
    /// A tag whose id another one has.
    struct Loser: Hashable, Sendable {
        let id: TagID
        let serial: String
    }

    private var losers: [Loser] = []

    /// Upper bound on tags that are named.
    private static let mostNamed = 8

    /// Adds a tag.
    mutating func add(_ id: TagID, of serial: String) {
        let loser = Loser(id: id, serial: serial)
        if losers.count < Self.mostNamed, !losers.contains(loser) { losers.append(loser) }
    }

    /// Returns the problems of the tags that still have no topics.
    func problems(_ tags: TagTable) -> [Problem] {
        losers.compactMap { loser in
            guard let owner = tags.position(of: loser.id).map({ tags[$0].entry.serial }), owner != loser.serial,
                !tags.contains(serial: loser.serial)
            else { return nil }
            return Problem(.idTaken(loser.id, of: loser.serial, by: owner), about: loser.serial)
        }
    }
}

extension Cause {
    /// A tag has no topics, because another one has its id.
    static func idTaken(_ id: TagID, of serial: String, by owner: String) -> Cause {
        Cause(
            .idTaken, .bridge,
            "The tag with the serial \(serial) has no topics: its id \(id) is that of the tag with the serial \(owner)",
            remedies: [
                "List both in the configuration, each with an id of its own, then reload the bridge",
                "To forget the tag with the serial \(serial), give the other one an id of its own before",
            ])
    }
}
