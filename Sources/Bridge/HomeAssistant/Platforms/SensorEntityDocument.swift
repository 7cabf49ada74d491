/// `sensor`: a value to read.
struct SensorEntityDocument: Encodable, Sendable {
    let stateTopic: String
    let valueTemplate: String
    var deviceClass: String?
    var unitOfMeasurement: String?
    var stateClass: String?
    /// Where more about it is, as an object of attributes.
    var jsonAttributesTopic: String?
}
