/// `select`: one of a few words.
struct SelectDocument: Encodable, Sendable {
    let stateTopic: String
    let commandTopic: String
    let options: [String]
}
