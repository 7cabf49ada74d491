import JSON
import JacquardProtocol

/// `name/set`: sets the tag's own name, given as text or in `name`. It may contain spaces.
struct NameSet: TagRequest {
    static let name = "name/set"

    private let newName: String

    var operation: TagOperation? { .perform(.rename(newName)) }

    /// Length in bytes. Source: protocol article, "Renaming, and disconnect command".
    private static let lengths = 1...21
    private static let allowed = "1 to 21 bytes of UTF-8 without control characters"

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        let arguments: CommandArguments =
            switch payload {
            case .empty: CommandArguments([:])
            case .text(let text): CommandArguments(["name": .string(text)])
            case .object(let object): CommandArguments(object)
            }
        let name = try arguments.text("name", mayBe: Self.allowed) { Self.isName($0) ? $0 : nil }
        newName = try CommandArguments.required(name, "name", mayBe: Self.allowed)
        guard newName != tag.sighting.name else {
            throw .invalid("name", is: .string(newName), mayBe: "\(Self.allowed), and not the name that it has")
        }
    }

    private static func isName(_ text: String) -> Bool {
        lengths.contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        TagRequestOutcome(publications: tag.sighted(TagSighting(name: newName), at: now))
    }
}
