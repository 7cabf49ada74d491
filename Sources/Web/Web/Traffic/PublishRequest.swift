import JSON

/// The body of `POST publish`: a topic and a payload.
struct PublishRequest: Hashable, Sendable {
    /// Largest payload.
    static let payloadLimit = 4096
    /// Longest topic.
    static let topicLimit = 512

    let topic: String
    let payload: [UInt8]

    /// Why a message is rejected. The raw value is the error code of the response.
    enum Rejection: String, Error, Hashable, Sendable {
        case invalidJSON = "invalid_json"
        case invalidArgument = "invalid_argument"
        case retained = "retained_rejected"
        case tooLarge = "payload_too_large"
        case notPermitted = "not_permitted"

        /// One sentence for people.
        var text: String {
            switch self {
            case .invalidJSON: "The body is not JSON."
            case .invalidArgument: "The body must be an object with a topic, and a payload that is an object or a text."
            case .retained: "Messages from the page are never retained."
            case .tooLarge: "A payload has at most \(PublishRequest.payloadLimit) bytes."
            case .notPermitted: "Your role may not publish to this topic."
            }
        }
    }

    /// Parses and checks a body.
    ///
    /// - Parameters:
    ///   - body: `{"topic":"...","payload":{...}}`. A payload that is an object gets `id`; a text is published unchanged.
    ///   - id: the command's id in the result.
    ///   - role: the role of the session.
    ///   - base: the base topic.
    /// - Throws: why the message must not be published.
    init(_ body: [UInt8], id: String, role: Role, base: String) throws(Rejection) {
        guard let document = JSONValue(parsing: body) else { throw .invalidJSON }
        guard case .object(let object) = document, let topic = object["topic"]?.string,
            Set(object.keys).isSubset(of: ["topic", "payload", "retain"])
        else { throw .invalidArgument }
        switch object["retain"] {
        case nil, .bool(false): break
        case .bool(true): throw .retained
        default: throw .invalidArgument
        }
        guard topic.utf8.count <= Self.topicLimit,
            !topic.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else { throw .invalidArgument }
        guard let rest = TopicPattern.rest(of: topic, below: base), role.mayWrite(rest) else { throw .notPermitted }
        switch object["payload"] {
        case nil, .null: payload = []
        case .string(let text): payload = Array(text.utf8)
        case .object(var command):
            command["id"] = .string(id)
            payload = JSONText.bytes(of: JSONValue.object(command))
        default: throw .invalidArgument
        }
        guard payload.count <= Self.payloadLimit else { throw .tooLarge }
        self.topic = topic
    }
}

/// The value of `Last-Event-ID`: `<boot>-<number>`.
struct EventID: Hashable, Sendable {
    /// Identifies the process, in which numbers increase.
    let boot: String
    let number: UInt64

    init(boot: String, number: UInt64) {
        self.boot = boot
        self.number = number
    }

    /// Parses a header value; nil for everything that this process cannot have sent.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, (1...16).contains(parts[0].count), (1...20).contains(parts[1].count),
            parts[1].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = UInt64(String(Substring(parts[1])))
        else { return nil }
        boot = String(Substring(parts[0]))
        self.number = number
    }

    var text: String { "\(boot)-\(number)" }
}
