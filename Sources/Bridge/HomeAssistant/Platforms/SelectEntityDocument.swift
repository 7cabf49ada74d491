/// `select`: one of a few words.
struct SelectEntityDocument: Encodable, Sendable {
    let stateTopic: String
    /// The option of a payload.
    let valueTemplate: String
    let commandTopic: String
    /// The payload of an option.
    let commandTemplate: String
    let options: [String]
}
