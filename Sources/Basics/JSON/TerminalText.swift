/// Makes text that comes from tags, brokers and other programs fit for terminals and logs.
///
/// Control characters could move the cursor or colour a terminal, format characters could turn the direction of writing so that
/// a line reads differently from what it holds, and line separators could forge lines. All of them are written as escapes.
public enum TerminalText {
    /// The text with its unsafe characters in the form `\u{9b}`. What is escaped already stays as it is.
    public static func escaped(_ text: String) -> String {
        escaped(text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// A document of JSON with its unsafe characters in the form `\u009b`. It stays the same document.
    public static func escapedJSON(_ json: String) -> String {
        escaped(json, codeUnits)
    }

    /// A text as a string of JSON, in quotation marks, its unsafe characters in the form `\u009b`.
    public static func quoted(_ text: String) -> String {
        let inside = text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if isSafe(scalar) { result.unicodeScalars.append(scalar) } else { result += codeUnits(scalar) }
            }
        }
        return "\"" + inside + "\""
    }

    /// Whether a text has no unsafe character.
    public static func isSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy(isPrintable) || text.unicodeScalars.allSatisfy(isSafe)
    }

    private static func escaped(_ text: String, _ escape: (Unicode.Scalar) -> String) -> String {
        guard !isSafe(text) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if isSafe(scalar) { result.unicodeScalars.append(scalar) } else { result += escape(scalar) }
        }
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return isPrintable(UInt8(scalar.value)) }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: false
        default: true
        }
    }

    /// Two of them beyond the basic plane.
    private static func codeUnits(_ scalar: Unicode.Scalar) -> String {
        UTF16.encode(scalar).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }
}
