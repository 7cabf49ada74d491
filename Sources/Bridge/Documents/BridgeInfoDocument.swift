/// `G/info`.
struct BridgeInfoDocument: Encodable {
    /// The version of the MQTT contract.
    let contract = 1
    let version: String
    let instance: String
    let started: String
    let boot: String
    @OrNull var bluez: String?
    @OrNull var mqtt: Int?
    let tags: [String]
    /// The connected tags. Commands to them are answered by this bridge only.
    let connected: [String]
}
