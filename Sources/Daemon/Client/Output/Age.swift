import Glibc

/// How long ago something was, in words.
enum Age {
    /// Milliseconds since 1970 of a time of the contract, `2026-11-20T10:15:02.114Z`; nil for any other text.
    static func unixMilliseconds(_ text: String) -> Int64? {
        let numbers = text.split { "-T:.Z".contains($0) }.compactMap { Int32($0) }
        guard numbers.count == 7, (1970...9999).contains(numbers[0]) else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
        let milliseconds = Int64(timegm(&parts)) * 1000 + Int64(numbers[6])
        // Whatever is no such time, such as a 30th of February, would be written otherwise.
        return ClockText.utc(milliseconds) == text ? milliseconds : nil
    }

    /// `now`, `40 s ago`, `12 min ago`, `5 h ago` or `3 d ago`; a time to come counts as now.
    static func text(from then: Int64, to now: Int64) -> String {
        let seconds = max(0, now - then) / 1000
        return switch seconds {
        case ..<2: "now"
        case ..<120: "\(seconds) s ago"
        case ..<7200: "\(seconds / 60) min ago"
        case ..<172_800: "\(seconds / 3600) h ago"
        default: "\(seconds / 86_400) d ago"
        }
    }

    /// A span in its two greatest units: `2 d 5 h`, `3 min 20 s`.
    static func span(seconds: Int64) -> String {
        let units = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")] as [(Int64, String)]
        let first = units.firstIndex { seconds >= $0.0 } ?? units.count - 1
        var rest = max(0, seconds)
        let words = units[first...].prefix(2).map { size, name in
            defer { rest %= size }
            return (rest / size, name)
        }
        return words.filter { $0.0 > 0 || words.count == 1 }.map { "\($0) \($1)" }.joined(separator: " ")
    }
}
