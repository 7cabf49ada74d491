/// `text`: a text field.
struct TextEntityDocument: Encodable, Sendable {
    let stateTopic: String
    let valueTemplate: String
    let commandTopic: String
    /// Characters; Home Assistant's default is 255.
    let max: Int
    /// A regular expression; Home Assistant rejects other texts before it sends them. It has to match the state, too.
    let pattern: String
}
