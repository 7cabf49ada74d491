import Bluetooth
import EventLoop
import JacquardProtocol

/// One tag's events as the SDK tells them: states, and in each connection a ``ConnectedTag``.
@LoopActor
final class ConnectionFollower {
    let states = Broadcast<TagConnectionState>(keeping: 64, isReplaying: true)
    /// The tag, while it is connected.
    private(set) var tag: ConnectedTag?
    /// Whether the last state has been told.
    private(set) var isEnded = false

    private var journal: TagJournal
    private let makeTag: (TagJournal) -> ConnectedTag?

    /// Begins to follow.
    ///
    /// - Parameters:
    ///   - facts: what is known already, where the connection is older.
    ///   - makeTag: makes a connected tag; nil when what it needs has not been told.
    init(_ facts: TagFacts, makeTag: @escaping (TagJournal) -> ConnectedTag?) {
        journal = TagJournal(facts)
        self.makeTag = makeTag
        if let connection = facts.connection, connection.state != .disconnected { changed(connection) }
    }

    /// Takes what is told of the tag.
    func take(_ event: TagEvent) {
        guard case .connection(let connection) = event else { return journal.take(event) }
        if connection.state == .connecting(step: 0) { journal = TagJournal(TagFacts()) }
        changed(connection)
    }

    private func changed(_ connection: TagConnection) {
        if connection.state == .connected {
            tag = makeTag(journal)
        } else if tag != nil {
            // Each connection has a tag of its own; this one's streams end with it.
            tag = nil
            journal.finish()
        }
        if let state = TagConnectionState(connection, tag) { states.send(state) }
        guard connection.state == .disconnected else { return }
        isEnded = true
        states.finish()
    }
}
