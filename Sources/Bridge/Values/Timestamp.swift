public import Time

/// A point in time on two clocks: the monotonic clock for intervals, and the wall clock for payloads.
public struct Timestamp: Hashable, Sendable {
    /// For intervals and deadlines. Unaffected by wall-clock changes.
    public var instant: Instant
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var unixMilliseconds: Int64

    /// Creates a time.
    public init(instant: Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }

    /// Returns the time after a duration.
    public static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(
            instant: time.instant + duration, unixMilliseconds: time.unixMilliseconds &+ duration.milliseconds)
    }
}

/// Formats times as the contract requires, `2026-11-20T10:15:02.114Z`, and caches the text of the last second.
struct TimeText: Sendable {
    private var second = Int64.min
    /// `2026-11-20T10:15:02.`
    private var text: [UInt8] = []

    /// Appends the 24 bytes of a time.
    mutating func append(_ unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        let (whole, milliseconds) = unixMilliseconds.flooredDivision(by: 1_000)
        if whole != second {
            second = whole
            text = Self.text(ofSecond: whole)
        }
        bytes.append(contentsOf: text)
        bytes.append(decimal: milliseconds, digits: 3)
        bytes.append(UInt8(ascii: "Z"))
    }

    private static func text(ofSecond second: Int64) -> [UInt8] {
        let (days, time) = second.flooredDivision(by: 86_400)
        let date = CivilDate(daysSince1970: days)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20)
        for (number, digits, separator) in [
            (date.year, 4, "-"), (date.month, 2, "-"), (date.day, 2, "T"),
            (time / 3_600, 2, ":"), (time / 60 % 60, 2, ":"), (time % 60, 2, "."),
        ] as [(Int64, Int, String)] {
            bytes.append(decimal: number, digits: digits)
            bytes.append(contentsOf: separator.utf8)
        }
        return bytes
    }
}

extension Timestamp {
    /// The time in the contract's format.
    var text: String { Self.text(ofUnixMilliseconds: unixMilliseconds) }

    /// Returns a time of the wall clock in the contract's format.
    static func text(ofUnixMilliseconds unixMilliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        var writer = TimeText()
        writer.append(unixMilliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A date of the Gregorian calendar.
struct CivilDate: Hashable, Sendable {
    let year: Int64
    let month: Int64
    let day: Int64

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
}

extension Int64 {
    /// Returns quotient and remainder; the remainder is never negative.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    /// Appends a number in decimal, padded with zeros to `digits`. A negative number is written as 0.
    mutating func append(decimal number: Int64, digits: Int) {
        append(decimal: UInt64(clamping: number), digits: digits)
    }

    /// Appends a number in decimal, padded with zeros to `digits`, at most 20.
    mutating func append(decimal number: UInt64, digits: Int = 1) {
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
