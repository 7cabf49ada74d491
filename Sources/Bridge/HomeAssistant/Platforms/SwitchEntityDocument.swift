/// `switch`: on or off, and both can be told.
struct SwitchEntityDocument: Encodable, Sendable {
    let stateTopic: String
    let valueTemplate: String
    let stateOn: String
    let stateOff: String
    let commandTopic: String
    let payloadOn: String
    let payloadOff: String
}
