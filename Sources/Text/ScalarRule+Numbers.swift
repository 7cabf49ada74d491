extension ScalarRule where Value == Int {
    /// A whole decimal number.
    static func integer(_ range: ClosedRange<Int>, unit: String = "") -> ScalarRule {
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
    static func wholeSeconds(_ range: ClosedRange<Int>) -> ScalarRule {
        ScalarRule<Int>.integer(range, unit: " seconds").map { seconds throws(Rejection) in .seconds(seconds) }
    }

    /// Seconds with up to three decimals.
    ///
    /// - Parameter range: in milliseconds.
    /// - Returns: the rule.
    static func seconds(milliseconds range: ClosedRange<Int>) -> ScalarRule {
        let (low, high) = (Duration.milliseconds(range.lowerBound), Duration.milliseconds(range.upperBound))
        let allowed = "\(low.decimalSeconds) to \(high.decimalSeconds) seconds"
        return ScalarRule(allowed: allowed) { text throws(Rejection) in
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            let fraction = parts.count == 2 ? parts[1] : "0"
            guard let whole = parts.first, isNumber(whole), isNumber(fraction) else {
                throw Rejection("is not a number")
            }
            guard fraction.utf8.count <= 3 else { throw Rejection("has more than three decimals") }
            let digits = fraction + String(repeating: "0", count: 3 - fraction.utf8.count)
            guard let value = Int(whole + digits), range.contains(value) else { throw Rejection("is out of range") }
            return .milliseconds(value)
        }
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit)
    }
}
