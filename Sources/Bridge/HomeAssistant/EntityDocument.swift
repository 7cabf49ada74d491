/// The keys that every entity has, whatever its platform.
struct EntityDocument: Encodable, Sendable {
    /// Where Home Assistant shows an entity that is not one of the main ones.
    enum Category: String, Encodable, Sendable {
        case config, diagnostic
    }

    let uniqueID: String
    /// Short: Home Assistant puts the device's name before it.
    let name: String
    var entityCategory: Category?
    var icon: String?
    /// nil: yes.
    var enabledByDefault: Bool?
    /// nil: always available.
    let availability: [AvailabilityDocument]?
    /// All topics have to say online; the default is that the last word of any of them decides.
    let availabilityMode: String?
    /// In each entity: early releases with the device form do not hand a shared one down.
    let qos = 1

    /// Describes an entity.
    init(
        uniqueID: String, name: String, category: Category?, icon: String?, isEnabled: Bool,
        availability: [AvailabilityDocument]
    ) {
        self.uniqueID = uniqueID
        self.name = name
        entityCategory = category
        self.icon = icon
        enabledByDefault = isEnabled ? nil : false
        self.availability = availability.isEmpty ? nil : availability
        availabilityMode = availability.isEmpty ? nil : "all"
    }
}

/// A topic that has to say `online` before an entity can be used.
struct AvailabilityDocument: Encodable, Sendable {
    let topic: String
    /// Makes `online` or `offline` of a topic that says something else.
    var valueTemplate: String?
}
