import Bluetooth
import EventLoop
import JacquardProtocol

/// Converts the events of one tag to the SDK's form: a stream of states, and one ``ConnectedTag`` per connection.
@LoopActor
final class ConnectionFollower {
    let states = Broadcast<TagConnectionState>(keeping: 64, isReplaying: true)
    /// The tag, while it is connected.
    private(set) var tag: ConnectedTag?
    /// Whether the last state was sent.
    private(set) var isEnded = false

    private var journal: TagJournal
    private let makeTag: (TagJournal) -> ConnectedTag?

    /// Starts with a tag in any state.
    ///
    /// - Parameters:
    ///   - facts: the values known so far.
    ///   - makeTag: creates a connected tag; nil without the tag's device information.
    init(_ facts: TagFacts, makeTag: @escaping (TagJournal) -> ConnectedTag?) {
        journal = TagJournal(facts)
        self.makeTag = makeTag
        if let connection = facts.connection, connection.state != .disconnected { changed(connection) }
    }

    /// Handles an event of the tag.
    func receive(_ event: TagEvent) {
        guard case .connection(let connection) = event else { return journal.receive(event) }
        if connection.state == .connecting(step: 0) { journal = TagJournal(TagFacts()) }
        changed(connection)
    }

    private func changed(_ connection: TagConnection) {
        if connection.state == .connected {
            tag = makeTag(journal)
        } else if tag != nil {
            // Each connection has its own instance, whose streams finish with it.
            tag = nil
            journal.finish()
        }
        if let state = TagConnectionState(connection, tag) { states.send(state) }
        guard connection.state == .disconnected else { return }
        isEnded = true
        states.finish()
    }
}
