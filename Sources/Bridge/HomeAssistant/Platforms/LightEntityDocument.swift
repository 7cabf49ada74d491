/// `light` with the JSON schema, which ``LightDocument`` and ``LightArguments`` speak.
struct LightEntityDocument: Encodable, Sendable {
    let schema = "json"
    let stateTopic: String
    let commandTopic: String
    let brightness = true
    let supportedColorModes = ["rgb"]
    /// Wanted beside the modes by releases up to 2024, warned about by later ones.
    let colorMode: Bool?
    let effect = true
    let effectList: [String]
    let flash = true
    /// Seconds.
    let flashTimeShort = 1
    /// Seconds.
    let flashTimeLong = 5
    /// The tag has none, and Home Assistant would assume one.
    let transition = false
}
