import JSON

/// The announcement of all tags that have the same entities, with fields for the values that differ.
///
/// A document has several kilobytes. Encoding it for each of thousands of tags would take seconds.
struct AnnouncementTemplate: Sendable {
    /// The properties of a tag that decide which keys its announcement has.
    struct Shape: Hashable {
        let events: [String]
        let hasFirmware: Bool
        let features: TagFeatures
    }

    /// The values that differ between tags of a shape.
    private enum Field: UInt8, CaseIterable {
        case objectID
        case id
        case topic
        case name
        case serial
        case firmware
        case address

        /// A noncharacter, U+FDD0 and following. The other values of a document come from the program, or from settings of MQTT
        /// topics, which cannot contain it.
        var placeholder: String { String(decoding: Self.lead + [0x90 + rawValue], as: UTF8.self) }

        /// The first bytes of each placeholder in UTF-8.
        static let lead: [UInt8] = [0xEF, 0xB7]

        init?(_ bytes: some Collection<UInt8>) {
            guard bytes.count == 3, bytes.starts(with: Self.lead), let last = bytes.suffix(1).first, last >= 0x90 else {
                return nil
            }
            self.init(rawValue: last - 0x90)
        }
    }

    /// Bytes with fields between them.
    private struct Pieces {
        private var parts: [(bytes: [UInt8], field: Field)] = []
        private var end: [UInt8] = []

        init(_ bytes: [UInt8]) {
            var start = 0
            for index in bytes.indices.dropLast(2) where bytes[index] == Field.lead[0] {
                guard let field = Field(bytes[index..<index + 3]) else { continue }
                parts.append((Array(bytes[start..<index]), field))
                start = index + 3
            }
            end = Array(bytes[start...])
        }

        func filled(_ values: [[UInt8]]) -> [UInt8] {
            var bytes: [UInt8] = []
            let count = parts.reduce(end.count) { $0 + $1.bytes.count + values[Int($1.field.rawValue)].count }
            bytes.reserveCapacity(count)
            for part in parts {
                bytes += part.bytes
                bytes += values[Int(part.field.rawValue)]
            }
            return bytes + end
        }
    }

    private let messages: [(topic: Pieces, payload: Pieces)]
    /// The entities and device triggers.
    let components: Set<AnnouncedComponent>

    /// Makes the template of a tag and of all others with its shape.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - documents: encodes the announcement.
    init(of tag: DiscoveredTag, _ documents: DiscoveryDocuments) {
        let fields = DiscoveredTag(
            id: tag.id, topic: Field.topic.placeholder, name: Field.name.placeholder, serial: Field.serial.placeholder,
            firmware: tag.firmware == nil ? nil : Field.firmware.placeholder)
        messages = documents.announcement(
            of: fields,
            DiscoveryDocuments.TagNames(
                objectID: Field.objectID.placeholder, id: Field.id.placeholder, address: Field.address.placeholder)
        ).map { (Pieces(Array($0.topic.utf8)), Pieces($0.payload)) }
        components = documents.components(ofTag: tag.id)
    }

    /// Announces a tag of this shape.
    func announcement(of tag: DiscoveredTag) -> [DiscoveryMessage] {
        let objectID = DiscoveryTopics.objectID(ofTag: tag.id)
        let address = DiscoveryTopics.addressPart(ofTag: tag.id)
        let values = [objectID, tag.id, tag.topic, tag.name, tag.serial, tag.firmware ?? "", address].map { text in
            // Without the quotation marks.
            Array(JSONText.bytes(of: text).dropFirst().dropLast())
        }
        return messages.map { message in
            DiscoveryMessage(
                topic: String(decoding: message.topic.filled(values), as: UTF8.self),
                payload: message.payload.filled(values))
        }
    }

    /// The topics of the announcement of the tag with an id.
    func topics(ofTag id: String) -> [String] {
        let objectID = Array(DiscoveryTopics.objectID(ofTag: id).utf8)
        let values = Field.allCases.map { $0 == .objectID ? objectID : [] }
        return messages.map { String(decoding: $0.topic.filled(values), as: UTF8.self) }
    }
}
