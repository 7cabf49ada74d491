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
    /// The tags that the bridge is connected to: commands for them are answered by it, and by no other bridge.
    let connected: [String]
}
