/// `event`: something that happens.
struct EventEntityDocument: Encodable, Sendable {
    let stateTopic: String
    /// Every word that may come: Home Assistant warns about others.
    let eventTypes: [String]
}
