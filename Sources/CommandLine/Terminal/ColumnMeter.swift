import CSystemd
import Glibc

/// Measures how many columns text takes on a terminal, by the tables of glibc for UTF-8.
final class ColumnMeter {
    /// The characters of UTF-8, whatever the user's locale is; freed with this object. nil if the system has none.
    private let locale: locale_t?

    init() {
        locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)
    }

    deinit {
        if let locale { freelocale(locale) }
    }

    /// Returns the columns of a text without control characters.
    func columns(of text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns(of: $1) }
    }

    /// Returns as many whole characters as fit. A text that is cut ends with `…`.
    func shortened(_ text: String, to limit: Int) -> String {
        guard columns(of: text) > limit else { return text }
        var result = ""
        var rest = limit - 1
        for character in text {
            rest -= columns(of: character)
            guard rest >= 0 else { break }
            result.append(character)
        }
        return result + "…"
    }

    /// Returns the columns of a character, which may consist of several scalars: marks and modifiers take none.
    ///
    /// An emoji in its colourful form takes two columns, as in Unicode Standard Annex 11, section 5.
    private func columns(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        if scalars.contains("\u{FE0F}"), scalars.first?.properties.isEmoji == true { return 2 }
        var isAfterEmoji = false
        return scalars.reduce(0) { sum, scalar in
            if scalar.properties.isEmojiModifier, isAfterEmoji { return sum }
            isAfterEmoji = scalar.properties.isEmojiModifierBase
            return sum + columns(of: scalar)
        }
    }

    private func columns(of scalar: Unicode.Scalar) -> Int {
        guard let locale else { return scalar.properties.isEmojiPresentation ? 2 : 1 }
        let previous = uselocale(locale)
        defer { uselocale(previous) }
        let width = character_columns(scalar.value)
        // -1: this version of glibc does not know the character.
        return width < 0 ? 1 : Int(width)
    }
}
