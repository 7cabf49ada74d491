/// One thing that Home Assistant finds: an entity or a device trigger.
struct DiscoveryItem: Sendable {
    /// Home Assistant's words for the kinds of things.
    enum Platform: String, Encodable, Sendable {
        case binarySensor = "binary_sensor"
        case button
        case deviceAutomation = "device_automation"
        case event, light, select, sensor
        case text
        case `switch`
    }

    /// Names the item within its device, in both forms; never changes, or the migration between the forms loses it.
    let key: String
    let platform: Platform
    /// Documents whose keys together describe the item; no two share a key.
    let parts: [any Encodable & Sendable]
}

/// Several documents as one JSON object.
struct JoinedDocument: Encodable {
    let parts: [any Encodable & Sendable]

    func encode(to encoder: any Encoder) throws {
        for part in parts { try part.encode(to: encoder) }
    }
}
