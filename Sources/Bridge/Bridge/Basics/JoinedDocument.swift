/// A document whose parts are encoded as one object.
protocol JoinedDocument: Encodable {
    /// The parts. No two have a key in common.
    var parts: [any Encodable] { get }
}

extension JoinedDocument {
    func encode(to encoder: any Encoder) throws {
        for part in parts { try part.encode(to: encoder) }
    }
}
