/// Finds serials that a person can mistake for one another.
public enum SerialLikeness {
    /// Returns the serials that a typed one can stand for, except itself.
    ///
    /// Those that differ only in case or in spaces at the ends take precedence over those with a character of similar shape
    /// (`l`, `I` and `1`; `O` and `0`), and these over those of which a character is missing or was added, and over those that
    /// end a part of the printed number, such as `0-07-9324FLHBK0003R`.
    ///
    /// - Parameters:
    ///   - typed: what a person typed; any text.
    ///   - serials: the known or received serials.
    /// - Returns: the serials of the first of these kinds that has any, sorted; empty if none resembles the text.
    public static func matches(to typed: String, in serials: [String]) -> [String] {
        let text = ASCII.trimmed(typed[...])
        // Longer than a printed number: not worth the comparison.
        guard !text.isEmpty, text.utf8.count <= 64 else { return [] }
        let others = Set(serials).filter { $0 != typed }
        let kinds: [(String) -> Bool] = [
            { $0.lowercased() == text.lowercased() },
            { shape($0) == shape(text) },
            { isPart(Array(shape($0)), Array(shape(text))) },
        ]
        return kinds.lazy.map { others.filter($0).sorted() }.first { !$0.isEmpty } ?? []
    }

    /// The serial in a form that is equal for serials which look alike: without case, `l` and `I` as `1`, `O` as `0`.
    public static func shape(_ serial: String) -> String {
        String(
            serial.map { letter in
                switch letter {
                case "l", "L", "i", "I": "1"
                case "o", "O": "0"
                default: letter.lowercased().first ?? letter
                }
            })
    }

    /// ` (did you mean 003R?)` with at most three serials, or nothing.
    public static func hint(for typed: String, in serials: [String]) -> String {
        let matches = matches(to: typed, in: serials).prefix(3)
        return matches.isEmpty ? "" : " (did you mean \(matches.joined(separator: " or "))?)"
    }

    /// The sentence for an id that no known tag has: `There is no tag "03R" (did you mean 003R?); there are 0001, 003R`.
    ///
    /// - Parameters:
    ///   - typed: what a person typed; of a longer text, the first 40 characters are repeated.
    ///   - known: the ids of the known tags; of more than 20, the first ones are named.
    ///   - received: the serials of received tags, of which some may be known.
    /// - Returns: the sentence, without a period.
    public static func unknownTag(_ typed: String, known: [String], received: [String] = []) -> String {
        let quoted = typed.count > 40 ? "\"\(typed.prefix(40))…\"" : "\"\(typed)\""
        let names = known.isEmpty ? "none" : known.prefix(20).joined(separator: ", ")
        let hint =
            received.contains(typed)
            ? " (received, but not paired)"
            : [known, received].lazy.map { self.hint(for: typed, in: $0) }.first { !$0.isEmpty } ?? ""
        return "There is no tag \(quoted)\(hint); there are \(names)"
    }

    /// The sentence for a serial with a letter that looks like a digit; nil if it has none.
    public static func caution(_ serial: String) -> String? {
        guard let letter = serial.first(where: { digits[$0] != nil }), let digit = digits[letter] else { return nil }
        return "\"\(serial)\" contains the letter \(letter), which looks like the digit \(digit)"
    }

    /// The digit that a letter looks like.
    private static let digits: [Character: Character] = ["l": "1", "I": "1", "O": "0"]

    private static func isPart(_ serial: [Character], _ typed: [Character]) -> Bool {
        guard typed.count >= 2, serial.count >= 2 else { return false }
        if typed.count < serial.count { return serial.ends(with: typed) || lacksOne(typed, of: serial) }
        let parts = typed.split(separator: "-")
        return parts.contains { $0.ends(with: serial) || $0.ends(with: serial.dropLast()) && $0.count > serial.count }
            || lacksOne(serial, of: typed)
    }

    /// Returns whether one character has to be removed from a text to get another.
    private static func lacksOne(_ short: [Character], of long: [Character]) -> Bool {
        guard short.count + 1 == long.count else { return false }
        let common = zip(short, long).prefix { $0 == $1 }.count
        return short[common...] == long[(common + 1)...]
    }
}

extension BidirectionalCollection where Element: Equatable {
    fileprivate func ends(with other: some BidirectionalCollection<Element>) -> Bool {
        reversed().starts(with: other.reversed())
    }
}
