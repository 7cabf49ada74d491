/// What Home Assistant shows about a device.
///
/// Home Assistant refuses every entity of a device with a key that it does not know: `model_id`, for one, is missing here
/// because releases before 2024.8 do not know it.
struct DeviceDocument: Encodable, Sendable {
    let identifiers: [String]
    let name: String
    let manufacturer: String
    let model: String
    var serialNumber: String?
    var swVersion: String?
    /// One of the identifiers of the bridge's own device.
    var viaDevice: String?
}

/// Who announces, for Home Assistant's log.
struct OriginDocument: Encodable, Sendable {
    /// The program, as it is recognised again.
    static let program = "jacquard2mqtt"

    let name = program
    let swVersion: String
}

/// The two parts that each message of the single form repeats.
struct DeviceAndOrigin: Encodable, Sendable {
    let device: DeviceDocument
    let origin: OriginDocument
}
