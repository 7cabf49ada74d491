/// `event`: something that happens.
struct EventEntityDocument: Encodable, Sendable {
    let stateTopic: String
    /// The event as JSON with `event_type`.
    let valueTemplate: String
    /// Every word that may come: Home Assistant warns about others.
    let eventTypes: [String]
}
