import JSON
import JacquardProtocol

/// `led/set`: plays a pattern on the LED of the tag or its gear. ``LEDOrder`` describes the arguments.
struct LEDSet: TagRequest {
    static let name = "led/set"

    private let order: LEDOrder

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        let arguments: CommandArguments =
            switch payload {
            case .empty: CommandArguments([:])
            case .text(let text): CommandArguments(try Self.object(for: try CommandPayload.singleWord(text)))
            case .object(let object): CommandArguments(object)
            }
        order = try LEDOrder(arguments, for: tag, defaults: defaults)
    }

    /// Returns the object that a bare word is short for.
    private static func object(for word: String) throws(CommandFailure) -> [String: JSONValue] {
        switch word.lowercased() {
        case "on": return ["state": "ON"].mapValues(JSONValue.string)
        case "off": return ["state": "OFF"].mapValues(JSONValue.string)
        case "flash": return ["flash": .integer(1)]
        case let color where LEDPattern.Color(.string(color)) != nil: return ["color": .string(color)]
        default:
            throw .invalid(
                "payload", is: .string(word),
                mayBe: "on, off, flash, a colour such as red or #ff8000, or a JSON object")
        }
    }

    var operation: TagOperation? {
        switch order.intent {
        case .dark: .perform(.playLEDPattern(.haltAll, on: order.target))
        case .light(_, let pattern): .perform(.playLEDPattern(pattern, on: order.target))
        }
    }

    func accepted(by tag: inout TagMirror) {
        if case .light(let look, _) = order.intent { tag[order.target].expectedState = look }
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        switch order.intent {
        case .dark: tag[order.target].goDark()
        case .light(let look, let pattern): tag[order.target].plays(pattern, look: look, at: now.instant)
        }
        return TagRequestOutcome(publications: [tag.ledFact])
    }

    func failed(at tag: inout TagMirror) {
        tag[order.target].forgetOrder()
    }
}
