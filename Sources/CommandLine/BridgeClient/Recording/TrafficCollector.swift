import Bridge
import BrokerAccess
import GATTRecording
import JSON
import MQTTTypes

/// Collects the records of one recording from the messages of a bridge.
struct TrafficCollector: Sendable {
    private let topic: String
    private let tag: String
    private var records: [TrafficRecord] = []
    /// Why the bridge has ended the recording; nil while it lasts.
    private(set) var end: String?

    /// Creates an empty collection for a tag.
    init(_ tag: String, _ topics: BridgeTopics) {
        self.tag = tag
        topic = topics.gatt
    }

    /// Adds a record; other messages are ignored.
    mutating func take(_ message: MQTTMessage) {
        guard message.topic == topic, end == nil else { return }
        let document = JSONValue(payload: message.payload)
        guard document["tag"]?.string == tag, let record = TrafficRecord(document),
            record.number > records.last?.number ?? 0, record.microseconds >= records.last?.microseconds ?? 0
        else { return }
        records.append(record)
        if case .end(let reason) = record.event { end = reason }
    }

    /// The recording so far.
    var recording: TrafficRecording { TrafficRecording(records: records) }

    /// Returns the recording without what identifies the tag or its owner, and without further texts, such as the tag's
    /// name.
    func scrubbed(_ texts: Set<String>) -> TrafficRecording {
        let recording = recording
        return TrafficScrubber(texts: TrafficScrubber.texts(in: recording).union(texts)).scrubbed(recording)
    }
}

extension RetainedFacts {
    /// The texts of a tag that identify it or its owner: its id, serial, names and long serial number.
    func identifyingTexts(of tag: String) -> Set<String> {
        let info = self.tag(tag, "info")
        let names = ["id", "serial", "name", "tag_name", "uuid"].compactMap { info?[$0]?.string }
        return Set([tag] + names)
    }
}

extension ClientRequest {
    /// The request to record the traffic of a tag.
    static func recording(_ tag: String, for duration: Duration, _ topics: BridgeTopics) -> ClientRequest {
        ClientRequest(
            verb: "gatt", ["tag": .string(tag), "duration_s": .integer(duration.components.seconds)], topics)
    }

    /// The command that disconnects or connects a tag.
    static func connection(_ word: String, of tag: String, _ topics: BridgeTopics) -> ClientRequest {
        ClientRequest("connection", of: tag, ["connection": .string(word)], topics)
    }
}
