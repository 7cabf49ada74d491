/// `device_automation`: a trigger that automations name by type and subtype.
///
/// It is no entity: without id, name or availability. Its words are an interface of the users' automations.
struct TriggerDocument: Encodable, Sendable {
    let automationType = "trigger"
    let type: String
    let subtype: String
    let topic: String
    let valueTemplate: String
    let payload: String
    let qos = 1
}
