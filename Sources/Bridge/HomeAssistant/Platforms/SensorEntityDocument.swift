/// `sensor`: a value to read.
struct SensorEntityDocument: Encodable, Sendable {
    let stateTopic: String
    let valueTemplate: String
    var deviceClass: String?
    /// Every state of a sensor of the class `enum`.
    var options: [String]?
    var unitOfMeasurement: String?
    var stateClass: String?
    /// Where more about it is, as an object of attributes.
    var jsonAttributesTopic: String?
    /// What to take of it; nil: the whole object.
    var jsonAttributesTemplate: String?
}
