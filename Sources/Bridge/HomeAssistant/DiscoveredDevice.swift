/// A device with all that Home Assistant finds on it.
struct DiscoveredDevice: Sendable {
    /// Names the device in discovery topics.
    let objectID: String
    let document: DeviceDocument
    let items: [DiscoveryItem]
}

extension DiscoveredDevice {
    /// The messages that announce the device in one form.
    func publications(_ topics: DiscoveryTopics, origin: OriginDocument) -> [Publication] {
        let shared = DeviceAndOrigin(device: document, origin: origin)
        switch topics.form {
        case .device:
            let components = items.map {
                ($0.key, JoinedDocument(parts: [PlatformDocument(platform: $0.platform)] + $0.parts))
            }
            let whole = Components(components: Dictionary(components) { first, _ in first })
            return [.discovery(topics.device(objectID), JoinedDocument(parts: [shared, whole]))]
        case .single:
            return items.map { item in
                .discovery(topics.item(item, of: objectID), JoinedDocument(parts: [shared] + item.parts))
            }
        }
    }

    /// Where those messages are.
    func topics(_ topics: DiscoveryTopics) -> [String] {
        switch topics.form {
        case .device: [topics.device(objectID)]
        case .single: items.map { topics.item($0, of: objectID) }
        }
    }
}

private struct PlatformDocument: Encodable {
    let platform: DiscoveryItem.Platform
}

private struct Components: Encodable {
    let components: [String: JoinedDocument]
}

extension Publication {
    fileprivate static func discovery(_ topic: String, _ document: JoinedDocument) -> Publication {
        Publication(topic: topic, payload: DiscoveryText.bytes(of: document), kind: .fact)
    }
}
