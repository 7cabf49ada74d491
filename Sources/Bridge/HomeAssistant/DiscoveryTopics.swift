/// The one place where a topic of Home Assistant's discovery is spelled.
///
/// Both forms name an item by the same two words, device and key: otherwise Home Assistant would not see that they are
/// the same when one form follows the other.
struct DiscoveryTopics: Hashable, Sendable {
    let prefix: String
    let form: HomeAssistantConfiguration.Form

    /// Where a whole device is announced.
    func device(_ objectID: String) -> String {
        "\(prefix)/device/\(objectID)/config"
    }

    /// Where one item is announced.
    func item(_ item: DiscoveryItem, of objectID: String) -> String {
        "\(prefix)/\(item.platform.rawValue)/\(objectID)/\(item.key)/config"
    }

    /// What may still be on the broker from a run with another form or another prefix of one level.
    func leftoverFilters(_ objectID: String) -> [String] {
        let everywhere = ["+/device/\(objectID)/config", "+/+/\(objectID)/+/config"]
        guard prefix.contains("/") else { return everywhere }
        return everywhere + [prefix + (form == .device ? "/+/\(objectID)/+/config" : "/device/\(objectID)/config")]
    }
}

/// A discovery topic of one of our devices that this run does not publish to.
struct Leftover: Hashable, Sendable {
    let topic: ExactText
    /// The device.
    let objectID: ExactText
    /// Whether Home Assistant listens to it: it has this run's prefix, and therefore the other form.
    let isHeard: Bool

    /// Reads a topic.
    ///
    /// - Returns: nil for a topic of this run, and for one that is none of ours.
    init?(_ topic: String, not present: DiscoveryTopics, objectIDs: Set<ExactText>) {
        guard topic.utf8.count <= ResponseTopic.mostBytes else { return nil }
        let levels = topic.topicLevels.map { ExactText($0) }
        guard levels.last?.text == "config", (4...ResponseTopic.mostLevels).contains(levels.count) else { return nil }
        let count = levels.count
        let form: HomeAssistantConfiguration.Form
        let prefix: String
        if levels[count - 3].text == "device", objectIDs.contains(levels[count - 2]) {
            form = .device
            objectID = levels[count - 2]
            prefix = levels.dropLast(3).map(\.text).joined(separator: "/")
        } else if count >= 5, objectIDs.contains(levels[count - 3]) {
            form = .single
            objectID = levels[count - 3]
            prefix = levels.dropLast(4).map(\.text).joined(separator: "/")
        } else {
            return nil
        }
        isHeard = prefix.hasSameBytes(as: present.prefix)
        guard form != present.form || !isHeard else { return nil }
        self.topic = ExactText(topic)
    }
}
