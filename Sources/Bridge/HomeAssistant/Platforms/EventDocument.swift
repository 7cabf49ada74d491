/// `event`: something that happens.
struct EventDocument: Encodable, Sendable {
    let stateTopic: String
    /// Every word that may come: Home Assistant warns about others.
    let eventTypes: [String]
}
