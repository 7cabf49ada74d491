import JSON

/// The topics of Home Assistant's discovery.
///
/// Both forms identify an entity by device and key. Without that, Home Assistant would not recognize an entity when it migrates
/// to the other form.
struct DiscoveryTopics: Hashable, Sendable {
    let prefix: String
    let form: HomeAssistantConfiguration.Form

    /// The level that takes the place of the platform in the device form.
    static let deviceLevel = "device"

    /// The same prefix in both forms.
    var inBothForms: [DiscoveryTopics] {
        HomeAssistantConfiguration.Form.allCases.map { DiscoveryTopics(prefix: prefix, form: $0) }
    }

    /// The topics of a device's announcement.
    func announcements(of objectID: String, _ entities: [Entity]) -> [String] {
        switch form {
        case .device: ["\(prefix)/\(Self.deviceLevel)/\(objectID)/config"]
        case .single:
            entities.map { "\(prefix)/\($0.kind.platform)/\(objectID)/\($0.key)/config" }
        }
    }

    /// The topic of a component in the single form.
    func announcement(of component: AnnouncedComponent, _ objectID: String) -> String {
        "\(prefix)/\(component.platform)/\(objectID)/\(component.key)/config"
    }

    /// A filter for the announcement of a device.
    func filter(_ objectID: String) -> String {
        switch form {
        case .device: "\(prefix)/\(Self.deviceLevel)/\(objectID)/config"
        case .single: "\(prefix)/+/\(objectID)/+/config"
        }
    }

    /// Filters for announcements of an earlier run: in the other form, or under another prefix of one level; and of this one.
    func leftoverFilters(_ objectID: String) -> [String] {
        let allPrefixes = ["+/device/\(objectID)/config", "+/+/\(objectID)/+/config"]
        guard prefix.contains("/") else { return allPrefixes }
        return allPrefixes + inBothForms.map { $0.filter(objectID) }
    }

    /// Identifies a tag in discovery topics and unique ids. It stays the same when the tag is renamed or moves to another
    /// bridge.
    static func objectID(ofTag id: String) -> String { "jacquard_tag_" + escaped(id) }

    /// Identifies a bridge in discovery topics and unique ids.
    static func objectID(ofBridge instance: String) -> String { "jacquard_bridge_" + escaped(instance) }

    /// A tag's id as a part of an address.
    static func addressPart(ofTag id: String) -> String { escaped(id, by: "%") }

    /// A text in the characters that Home Assistant accepts in discovery topics. Other bytes become a mark and two
    /// hexadecimal digits.
    private static func escaped(_ text: String, by mark: String = "_") -> String {
        guard text.utf8.contains(where: { !isAccepted($0) }) else { return text }
        return text.utf8.map { byte in
            isAccepted(byte)
                ? String(UnicodeScalar(byte)) : mark + String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
        }.joined()
    }

    private static func isAccepted(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// A discovery topic of one of our devices, in either form and under any prefix.
///
/// Texts are kept as bytes: `String` compares by Unicode equivalence, MQTT compares bytes.
struct DeviceTopic: Hashable, Sendable {
    let prefix: [UInt8]
    let form: HomeAssistantConfiguration.Form
    let objectID: [UInt8]

    /// Parses a topic.
    ///
    /// - Returns: nil for a topic that is not an announcement of one of these devices.
    init?(_ topic: String, objectIDs: Set<[UInt8]>) {
        let levels = topic.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
        let count = levels.count
        guard count >= 4, levels[count - 1] == Array("config".utf8) else { return nil }
        if levels[count - 3] == Array("device".utf8), objectIDs.contains(levels[count - 2]) {
            form = .device
            objectID = levels[count - 2]
            prefix = Array(levels.dropLast(3).joined(separator: [UInt8(ascii: "/")]))
        } else if count >= 5, objectIDs.contains(levels[count - 3]) {
            form = .single
            objectID = levels[count - 3]
            prefix = Array(levels.dropLast(4).joined(separator: [UInt8(ascii: "/")]))
        } else {
            return nil
        }
    }
}

/// The discovery topics that a bridge and its tags have at the broker, in whichever form they were published.
public struct DiscoveryFootprint: Hashable, Sendable {
    private let prefix: String
    private let objectIDs: Set<String>

    /// - Parameters:
    ///   - prefix: Home Assistant's discovery prefix.
    ///   - instance: the bridge's name in topics.
    ///   - tags: the ids of its tags.
    public init(prefix: String, instance: String, tags: [String]) {
        self.prefix = prefix
        objectIDs = Set(
            [DiscoveryTopics.objectID(ofBridge: instance)] + tags.map { DiscoveryTopics.objectID(ofTag: $0) })
    }

    /// The filters that find them.
    public var filters: [String] {
        objectIDs.sorted().flatMap { ["\(prefix)/device/\($0)/config", "\(prefix)/+/\($0)/+/config"] }
    }

    /// The topics that they can have in both forms, for brokers that send no retained messages to ``filters``.
    ///
    /// - Parameter words: with every feature on, as the entities follow from them.
    /// - Returns: the topics, also those of other devices' entities.
    public func names(_ words: Vocabulary) -> [String] {
        let entities = Entity.bridgeEntities(words) + Entity.tagEntities(words, ofTag: "", .all)
        return objectIDs.sorted().flatMap { id in
            DiscoveryTopics(prefix: prefix, form: .device).inBothForms.flatMap { topics in
                topics.announcements(
                    of: id, entities.filter { topics.form == .device || !$0.kind.isOnlyInDeviceForm })
            }
        }
    }

    /// Whether a message is one of them: its topic names one of the devices, and its payload this program.
    public func contains(_ topic: String, _ payload: [UInt8]) -> Bool {
        guard let found = DeviceTopic(topic, objectIDs: Set(objectIDs.map { Array($0.utf8) })) else { return false }
        return found.prefix == Array(prefix.utf8) && DiscoveryMessage.isOwn(payload)
    }

    /// The topics that an announcement names, such as those of states and commands.
    public static func topics(in payload: [UInt8]) -> [String] {
        JSONValue(parsing: payload).map(topics) ?? []
    }

    private static func topics(in value: JSONValue) -> [String] {
        switch value {
        case .object(let members):
            members.flatMap { member in
                if let topic = member.value.string { return member.key.hasSuffix("topic") ? [topic] : [] }
                return topics(in: member.value)
            }
        case .array(let elements): elements.flatMap(topics)
        default: []
        }
    }
}
