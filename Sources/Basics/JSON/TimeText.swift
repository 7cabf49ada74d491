/// Times as text in UTC with milliseconds, `2026-11-20T10:15:02.114Z` (RFC 3339). Caches the text of the last second.
public struct TimeText: Sendable {
    private var second = Int64.min
    /// `2026-11-20T10:15:02.`
    private var text: [UInt8] = []

    /// Creates a formatter without a cached second.
    public init() {}

    /// Appends the 24 bytes of a time.
    ///
    /// - Parameters:
    ///   - unixMilliseconds: milliseconds since 1970-01-01T00:00:00Z.
    ///   - bytes: where to append them.
    public mutating func append(_ unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        let (whole, milliseconds) = unixMilliseconds.flooredDivision(by: 1_000)
        if whole != second {
            second = whole
            text = Self.text(ofSecond: whole)
        }
        bytes.append(contentsOf: text)
        bytes.append(decimal: milliseconds, digits: 3, then: "Z")
    }

    private static func text(ofSecond second: Int64) -> [UInt8] {
        let (days, time) = second.flooredDivision(by: 86_400)
        let date = CivilDate(daysSince1970: days)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20)
        bytes.append(decimal: date.year, digits: 4, then: "-")
        bytes.append(decimal: date.month, digits: 2, then: "-")
        bytes.append(decimal: date.day, digits: 2, then: "T")
        bytes.append(decimal: time / 3_600, digits: 2, then: ":")
        bytes.append(decimal: time / 60 % 60, digits: 2, then: ":")
        bytes.append(decimal: time % 60, digits: 2, then: ".")
        return bytes
    }

    /// Returns a time as text.
    public static func utc(_ unixMilliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        var writer = TimeText()
        writer.append(unixMilliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Parses a time that ``utc(_:)`` has written.
    ///
    /// - Returns: milliseconds since 1970; nil for any other text, and for years before 1970.
    public static func unixMilliseconds(_ text: String) -> Int64? {
        guard text.utf8.count == 24 else { return nil }
        let numbers = text.split { "-T:.Z".contains($0) }.compactMap { Int64($0) }
        guard numbers.count == 7, numbers[0] >= 1970, numbers.allSatisfy({ (0...9_999).contains($0) }) else {
            return nil
        }
        let days = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2]).daysSince1970
        let seconds = ((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
        let milliseconds = seconds * 1_000 + numbers[6]
        // A date that does not exist, such as February 30, differs from the formatted result.
        return utc(milliseconds) == text ? milliseconds : nil
    }
}

/// A date of the Gregorian calendar.
struct CivilDate: Hashable, Sendable {
    let year: Int64
    let month: Int64
    let day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Converts days since 1970. Counts years from March, so that the leap day is the last day of its year.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    init(daysSince1970 days: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The inverse, for years from 0.
    ///
    /// Source: as above, `days_from_civil`.
    var daysSince1970: Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = yearFromMarch.flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int64 {
    /// Returns quotient and remainder; the remainder is never negative.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    /// Appends a number in decimal, padded with zeros to `digits`, and a separator. A negative number is written as 0.
    fileprivate mutating func append(decimal number: Int64, digits: Int, then separator: Unicode.Scalar) {
        append(decimal: UInt64(clamping: number), digits: digits)
        append(UInt8(ascii: separator))
    }

    /// Appends a number in decimal, padded with zeros to `digits`, at most 20.
    public mutating func append(decimal number: UInt64, digits: Int = 1) {
        var places = 1
        var divisor: UInt64 = 1
        while places < digits || number / divisor >= 10 {
            places += 1
            divisor *= 10
        }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
