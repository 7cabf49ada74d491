/// A character that looks like a space, a quote, a dash or a colon of YAML, or like nothing, and is part of the text for YAML.
///
/// Editors, word processors and web pages put such characters in place of those that were typed.
struct ConfusableCharacter: Hashable, Sendable {
    /// The character that the author has probably meant.
    enum Kind: Hashable, Sendable {
        case space, nothing, quote, dash, colon, lineBreak
    }

    /// Its kind.
    let kind: Kind
    /// Such as `a no-break space (U+00A0)`.
    let name: String

    /// nil for any other character.
    init?(_ scalar: Unicode.Scalar) {
        guard scalar.value >= 0x85, let (kind, name) = Self.entry(scalar.value) else { return nil }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        self.kind = kind
        self.name = "\(name) (U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits))"
    }

    /// The first one of a text, as a note for an error message; empty without one.
    static func note(in text: String) -> String {
        guard let character = text.unicodeScalars.lazy.compactMap(ConfusableCharacter.init).first else { return "" }
        return "; it holds \(character.name): \(character.remedy)"
    }

    /// The text to write instead.
    var remedy: String {
        switch kind {
        case .space: "use spaces"
        case .nothing: "remove it"
        case .quote: "use \" or '"
        case .dash: "use -"
        case .colon: "use \": \""
        case .lineBreak: "use a line break"
        }
    }

    /// Source: the names of the Unicode Character Database 15.
    private static func entry(_ value: UInt32) -> (Kind, String)? {
        switch value {
        case 0x85: (.lineBreak, "a next-line character")
        case 0xA0: (.space, "a no-break space")
        case 0xAB, 0xBB: (.quote, "a double angle quotation mark")
        case 0xAD: (.nothing, "a soft hyphen")
        case 0xB4: (.quote, "an acute accent")
        case 0x1680, 0x2000, 0x2001, 0x2004...0x2008, 0x200A: (.space, "a typographic space")
        case 0x2002: (.space, "an en space")
        case 0x2003: (.space, "an em space")
        case 0x2009: (.space, "a thin space")
        case 0x200B: (.nothing, "a zero width space")
        case 0x200C, 0x200D: (.nothing, "a zero width joiner")
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: (.nothing, "a mark of writing direction")
        case 0x2010: (.dash, "a typographic hyphen")
        case 0x2011: (.dash, "a non-breaking hyphen")
        case 0x2012: (.dash, "a figure dash")
        case 0x2013: (.dash, "an en dash")
        case 0x2014, 0x2015: (.dash, "an em dash")
        case 0x2018: (.quote, "a left single quotation mark")
        case 0x2019: (.quote, "a right single quotation mark")
        case 0x201A, 0x201B: (.quote, "a low or reversed single quotation mark")
        case 0x201C: (.quote, "a left double quotation mark")
        case 0x201D: (.quote, "a right double quotation mark")
        case 0x201E, 0x201F: (.quote, "a low or reversed double quotation mark")
        case 0x2028, 0x2029: (.lineBreak, "a line or paragraph separator")
        case 0x202F: (.space, "a narrow no-break space")
        case 0x2039, 0x203A: (.quote, "a single angle quotation mark")
        case 0x205F: (.space, "a mathematical space")
        case 0x2060, 0x2061...0x2064, 0x180E: (.nothing, "an invisible joiner")
        case 0x2212: (.dash, "a minus sign")
        case 0x3000: (.space, "an ideographic space")
        case 0xFEFF: (.nothing, "a byte order mark")
        case 0xFF02, 0xFF07: (.quote, "a fullwidth quotation mark")
        case 0xFF0D: (.dash, "a fullwidth hyphen")
        case 0xFF1A: (.colon, "a fullwidth colon")
        default: nil
        }
    }
}
