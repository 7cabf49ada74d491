import JacquardProtocol

/// The time between the decision to stop and the end of the broker connection.
struct Shutdown: Sendable {
    /// The tags that were connected before.
    let connected: Set<TagID>
    /// Whether the broker has sent this bridge's own document without connected tags, or its `offline`. Other bridges receive later
    /// commands after it.
    var isKnown = false

    init(connected: Set<TagID>) {
        self.connected = connected
    }

    /// Returns whether this bridge rejects a command to a tag that other bridges know, too. They execute the command, except one
    /// that they have received while this bridge was connected to the tag.
    func answers(for tag: TagID) -> Bool { !isKnown && connected.contains(tag) }
}
