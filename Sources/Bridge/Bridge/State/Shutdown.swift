import JacquardProtocol

/// The time between the decision to stop and the end of the broker connection.
struct Shutdown: Sendable {
    /// The tags that were connected before.
    private let connected: Set<TagID>
    /// Whether the broker has sent this bridge's own `offline`. Other bridges receive later commands after it.
    private var isOfflineKnown = false

    init(connected: Set<TagID>) {
        self.connected = connected
    }

    /// Handles the state of this bridge, as every subscriber receives it.
    mutating func received(ownState state: [UInt8]) {
        if state.elementsEqual("offline".utf8) { isOfflineKnown = true }
    }

    /// Returns whether this bridge rejects a command to a tag that it knows. Another online bridge that knows the tag
    /// executes the command, except one that it received while this bridge was connected to the tag.
    func answers(for tag: TagID, isKnownElsewhere: Bool) -> Bool {
        !isKnownElsewhere || (!isOfflineKnown && connected.contains(tag))
    }
}
