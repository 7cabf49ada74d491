/// A property that stands out about a value as it is written in the file, and explains why it is not the one that was meant.
enum ValueRemark: Hashable, Sendable {
    /// A comment follows that looks like a part of the value: `led #ff8000`.
    case cut
    /// It holds a character that looks like another one; at the edge: at its beginning or end.
    case confusable(YAMLText.Confusable, isAtEdge: Bool)
    /// It is a list or keys in brackets; the text is the bracket.
    case brackets(String)
    /// A `|` or `>` without lines after it.
    case emptyBlock
    /// The word `null` or `~`, which stands for no value.
    case null

    /// The remedy, for the error of a value that is not allowed.
    var remedy: String {
        switch self {
        case .cut: "; \" #\" begins a comment: put the value in quotes"
        case .confusable(let found, _):
            "; \(found.character.name) at \(found.position.line):\(found.position.column): \(found.character.remedy)"
        case .brackets(let bracket): "; \(bracket) in front: put the value in quotes if it is a text"
        case .emptyBlock: "; | and > announce lines of text: put the value in quotes"
        case .null: "; put the value in quotes if it is a text"
        }
    }

    /// The notice for a value that is allowed; nil: nothing has to be said.
    var notice: String? {
        switch self {
        case .cut: "\" #\" begins a comment: put the value in quotes if it contains the #"
        case .confusable(let found, isAtEdge: true):
            "the value begins or ends with \(found.character.name): \(found.character.remedy), or put the value in quotes"
        case .confusable, .brackets, .emptyBlock, .null: nil
        }
    }
}
