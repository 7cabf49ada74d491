/// `binary_sensor`: one of two.
struct BinarySensorEntityDocument: Encodable, Sendable {
    let stateTopic: String
    /// nil: the payload as it is.
    var valueTemplate: String?
    let payloadOn: String
    let payloadOff: String
    var deviceClass: String?
    /// Where more about it is, and what to take of it.
    var jsonAttributesTopic: String?
    var jsonAttributesTemplate: String?
}
