public import JSON
import Text

/// The text of `T/connection` for people.
public struct ConnectionText: Hashable, Sendable {
    private let document: JSONValue

    /// Creates the text of a document.
    public init(_ document: JSONValue) {
        self.document = document
    }

    /// `initializing 6/14`.
    public var short: String {
        let state = (document["state"]?.string ?? "unknown").asWords
        guard let step = document["step"]?.integer, let of = document["of"]?.integer else { return state }
        return "\(state) \(step)/\(of)"
    }

    /// The same, with attempt and error.
    public var long: String {
        let attempt = document["attempt"]?.integer ?? 0
        var parts = [short]
        if attempt > 1 { parts.append("attempt \(attempt)") }
        if let error = document["error"]?["text"]?.string { parts.append(error) }
        if let hint = document["error"]?["hint"]?.string { parts.append(hint) }
        return DisplayText.joined(parts)
    }
}
