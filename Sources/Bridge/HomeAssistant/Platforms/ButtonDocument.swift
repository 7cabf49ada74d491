/// `button`: something to do.
struct ButtonDocument: Encodable, Sendable {
    let commandTopic: String
    let payloadPress: String
}
