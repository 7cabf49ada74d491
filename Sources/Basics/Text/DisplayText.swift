import JSON

/// Makes words of the user fit for one line of a message on a terminal.
public enum DisplayText {
    /// Longer values are cut: they name no place that line and column do not name better.
    private static let limit = 40

    /// In double quotes, at most 40 characters, control characters escaped.
    public static func quoted(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(limit)
        let rest = start.endIndex < text.endIndex ? "..." : ""
        return "\"\(escaped(String(start)))\(rest)\""
    }

    /// Escapes what could move the cursor, colour a terminal or turn the direction of writing.
    public static func escaped(_ text: String) -> String { TerminalText.escaped(text) }

    /// Joins the parts of a message on one line: a sentence follows a period, anything else a semicolon.
    public static func joined(_ parts: [String]) -> String {
        parts.dropFirst().reduce(parts.first ?? "") { line, part in
            line + (part.first?.isUppercase == true ? ". " : "; ") + part
        }
    }

    /// Appends a key to a key in dotted form.
    ///
    /// To YAML `password:secret`, without a blank, is a key: only what looks like one is repeated in a message.
    public static func path(_ path: String, _ key: String) -> String {
        [path, isKey(key) ? key : ""].filter { !$0.isEmpty }.joined(separator: ".")
    }

    /// Whether the word looks like a key: 1 to 40 ASCII letters, digits, `_` and `-`.
    public static func isKey(_ word: String) -> Bool {
        (1...40).contains(word.utf8.count)
            && word.utf8.allSatisfy(ASCII.isOfWord)
    }
}

/// Returns a number with its noun: `1 session`, `3 sessions`.
public func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Returns a number with its noun and verb: `1 event was`, `3 events were`.
public func countedWere(_ count: Int, _ noun: String) -> String {
    counted(count, noun) + (count == 1 ? " was" : " were")
}

/// Returns a part of a number with its noun and verb: `1 of 2 bridges is`, `3 of 3 bridges are`.
public func countedAre(_ count: Int, of total: Int, _ noun: String) -> String {
    "\(count) of \(counted(total, noun)) \(count == 1 ? "is" : "are")"
}

extension String {
    /// The first part of a longer text and three dots: at most this many bytes before them.
    public func shortened(toBytes count: Int) -> String {
        utf8.count <= count ? self : String(decoding: utf8.prefix(count), as: UTF8.self) + "..."
    }
}
