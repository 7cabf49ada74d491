/// `select`: one of a few words.
struct SelectEntityDocument: Encodable, Sendable {
    let stateTopic: String
    let commandTopic: String
    let options: [String]
}
