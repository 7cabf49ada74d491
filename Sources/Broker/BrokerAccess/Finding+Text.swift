public import Bridge
public import JSON
import Text

extension Finding {
    /// `{"name","title","verdict","found","remedies"}`.
    public var document: JSONValue {
        [
            "name": .string(check.rawValue), "title": .string(check.title), "verdict": .string(verdict.rawValue),
            "found": .string(found), "remedies": .array(remedies.map(JSONValue.string)),
        ]
    }

    /// Reads the document; nil for a check that this version does not know.
    public init?(_ document: JSONValue) {
        guard let check = document["name"]?.string.flatMap(Check.init),
            let verdict = document["verdict"]?.string.flatMap(Verdict.init), let found = document["found"]?.string
        else { return nil }
        self.init(check, verdict, found, remedies: (document["remedies"]?.elements ?? []).compactMap(\.string))
    }

    /// The verdict, the title and what was found; then a line for each remedy.
    ///
    /// - Parameter completed: completes the command lines in remedies.
    /// - Returns: the lines, with control characters escaped.
    public func lines(completed: (String) -> String) -> [String] {
        let head = Self.padded(verdict.rawValue, 9) + Self.padded(check.title, 16) + found
        return ([head] + remedies.map { Self.padded("", 9) + "-> " + completed($0) }).map(DisplayText.escaped)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
