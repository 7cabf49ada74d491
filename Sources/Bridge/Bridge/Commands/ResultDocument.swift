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
        var json = JSONWriter(capacity: 192)
        json.object { object in
            object.add("bridge", bridge)
            object.add("data", data)
            object.add("error", error)
            object.add("final", status != .accepted)
            object.add("id", id)
            object.add("status", status.rawValue)
            object.addIfPresent("tag", tag)
            object.add("time", time: time.unixMilliseconds, &timeText)
            object.add("took_ms", tookMilliseconds)
        }
        return json.finished()
    }
}

/// The data of a result: any document, or an empty object.
struct CommandData: Sendable {
    private let json: [UInt8]

    /// The text of a document.
    init(_ document: some JSONDocument) {
        json = JSONText.bytes(of: document)
    }

    /// The text of an object with these members.
    init(members: (inout JSONWriter) -> Void) {
        json = JSONText.objectBytes(members)
    }

    /// Returns the data with the key `ignored`: the keys that a command does not have.
    func naming(ignored keys: [String: String]) -> CommandData {
        let members = JSONValue(parsing: json)?.members ?? [:]
        return CommandData(
            JSONValue.object(members.merging(["ignored": .object(keys.mapValues { .string($0) })]) { own, _ in own }))
    }

    /// `{}`
    static let none = CommandData { _ in }
}

extension CommandData: JSONDocument {
    func write(to json: inout JSONWriter) { json.write(json: self.json) }
}
