/// `button`: something to do.
struct ButtonEntityDocument: Encodable, Sendable {
    let commandTopic: String
    let payloadPress: String
}
