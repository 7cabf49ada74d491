import JSON

/// The result of a command.
struct ResultDocument {
    /// The three statuses of a result.
    enum Status: String {
        case ok, error, accepted
    }

    let id: String?
    let status: Status
    let data: CommandData
    let error: CommandFailure?
    /// The tag, in the results of a command to a group; nil: the key is omitted.
    var tag: String?
    let tookMilliseconds: Int64
    let time: Timestamp
    let bridge: String

    /// Encodes the result.
    ///
    /// - Parameter timeText: formats the time.
    /// - Returns: the payload.
    func bytes(_ timeText: inout TimeText) -> [UInt8] {
        var object = JSONObjectWriter(capacity: 192)
        object.add("bridge", bridge)
        data.add(to: &object)
        if let error { object.add("error", document: error) } else { object.add("error", nil) }
        object.add("final", status != .accepted)
        object.add("id", id)
        object.add("status", status.rawValue)
        if let tag { object.add("tag", tag) }
        object.add("time", time: time.unixMilliseconds, &timeText)
        object.add("took_ms", tookMilliseconds)
        return object.finished()
    }
}

/// The data of a result: any document, or an empty object.
struct CommandData: Sendable {
    private let document: (any Encodable & Sendable)?

    /// Wraps a document.
    init(_ document: some Encodable & Sendable) {
        self.document = document
    }

    private init() {
        document = nil
    }

    /// Returns the data with the key `ignored`: the keys that a command does not have.
    func naming(ignored keys: [String: String]) -> CommandData {
        let members = document.flatMap { JSONValue(parsing: JSONText.bytes(of: $0)) }?.members ?? [:]
        return CommandData(members.merging(["ignored": .object(keys.mapValues { .string($0) })]) { own, _ in own })
    }

    /// `{}`
    static let none = CommandData()

    fileprivate func add(to object: inout JSONObjectWriter) {
        if let document { object.add("data", document: document) } else { object.add("data") { _ in } }
    }
}
