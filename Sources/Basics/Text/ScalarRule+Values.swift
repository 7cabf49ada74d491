extension ScalarRule where Value == Int {
    /// A whole decimal number.
    public static func integer(_ range: ClosedRange<Int>, unit: String = "") -> ScalarRule {
        ScalarRule(allowed: "\(range.lowerBound) to \(range.upperBound)\(unit)") { text throws(Rejection) in
            let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
            guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else {
                throw Rejection("is not a whole number")
            }
            // Too many digits for an Int are out of any range, too.
            guard let value = Int(text), range.contains(value) else { throw Rejection("is out of range") }
            return value
        }
    }
}

extension ScalarRule where Value == Duration {
    /// Whole seconds.
    public static func wholeSeconds(_ range: ClosedRange<Int>) -> ScalarRule {
        ScalarRule<Int>.integer(range, unit: " seconds").map { seconds throws(Rejection) in .seconds(seconds) }
    }

    /// Seconds with up to three decimals.
    ///
    /// - Parameter range: in milliseconds.
    /// - Returns: the rule.
    public static func seconds(milliseconds range: ClosedRange<Int>) -> ScalarRule {
        let (low, high) = (Duration.milliseconds(range.lowerBound), Duration.milliseconds(range.upperBound))
        let allowed = "\(low.decimalSeconds) to \(high.decimalSeconds) seconds"
        return ScalarRule(allowed: allowed) { text throws(Rejection) in
            let isNegative = text.hasPrefix("-")
            let parts = text.dropFirst(isNegative ? 1 : 0)
                .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            let fraction = parts.count == 2 ? parts[1] : "0"
            guard let whole = parts.first, isNumber(whole), isNumber(fraction) else {
                throw Rejection("is not a number")
            }
            guard fraction.utf8.count <= 3 else { throw Rejection("has more than three decimals") }
            let digits = fraction + String(repeating: "0", count: 3 - fraction.utf8.count)
            guard let value = Int((isNegative ? "-" : "") + whole + digits), range.contains(value) else {
                throw Rejection("is out of range")
            }
            return .milliseconds(value)
        }
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit)
    }
}

extension Duration {
    /// Seconds with as many decimals as they need, at most three: `5`, `0.25`.
    public var decimalSeconds: String {
        let (seconds, attoseconds) = components
        guard attoseconds > 0 else { return "\(seconds)" }
        var digits = "\(1000 + attoseconds / 1_000_000_000_000_000)".dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(seconds).\(digits)"
    }
}

extension ScalarRule where Value == Bool {
    /// `true` or `false`, in any case.
    public static var boolean: ScalarRule {
        ScalarRule(allowed: "true, false") { text throws(Rejection) in
            switch text.lowercased() {
            case "true": true
            case "false": false
            default: throw Rejection("is neither true nor false")
            }
        }
    }
}

extension ScalarRule where Value: CaseIterable & RawRepresentable<String> {
    /// One of the words that the type lists.
    public static var choice: ScalarRule {
        let words = Value.allCases.map(\.rawValue)
        return ScalarRule(allowed: words.joined(separator: ", ")) { text throws(Rejection) in
            guard let value = Value(rawValue: text) else {
                throw Rejection("is not one of these\(Spelling.hint(for: text, in: words))")
            }
            return value
        }
    }
}

extension ScalarRule where Value == String {
    /// Text for people or for the broker: no control characters.
    public static func text(bytes limit: Int) -> ScalarRule {
        ScalarRule(allowed: "1 to \(limit) bytes without control characters") { text throws(Rejection) in
            guard !text.isEmpty else { throw Rejection("is empty") }
            guard text.utf8.count <= limit else { throw Rejection("is too long") }
            guard !text.utf8.contains(where: ASCII.isControl) else { throw Rejection("holds a control character") }
            return text
        }
    }

    /// A word over a small alphabet.
    ///
    /// - Parameters:
    ///   - limit: how many characters at most; one at least.
    ///   - alphabet: the letters in words.
    ///   - isAllowed: the letters as a test.
    /// - Returns: the rule.
    public static func word(
        limit: Int, alphabet: String, where isAllowed: @escaping (UInt8) -> Bool
    ) -> ScalarRule {
        ScalarRule(allowed: "1 to \(limit) of \(alphabet)") { text throws(Rejection) in
            guard !text.isEmpty else { throw Rejection("is empty") }
            guard text.utf8.allSatisfy(isAllowed) else { throw Rejection("holds other characters") }
            guard text.utf8.count <= limit else { throw Rejection("is too long") }
            return text
        }
    }

    /// One of a few words.
    public static func choice(of words: [String]) -> ScalarRule {
        ScalarRule(allowed: words.joined(separator: ", ")) { text throws(Rejection) in
            guard words.contains(text) else {
                throw Rejection("is not one of these\(Spelling.hint(for: text, in: words))")
            }
            return text
        }
    }
}
