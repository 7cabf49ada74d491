import Glibc

/// The formats of times in the output of commands.
public enum ClockText {
    /// Returns `2026-11-20T10:15:02.114Z`, the format of the MQTT contract.
    public static func utc(_ unixMilliseconds: Int64) -> String {
        var seconds = time_t(unixMilliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
            .map { padded(Int64($0), to: $1) }.joined(separator: "-")
        return "\(date)T\(time(parts, unixMilliseconds))Z"
    }

    /// Returns `11:15:02.114`, in the local time zone.
    public static func local(_ unixMilliseconds: Int64) -> String {
        var seconds = time_t(unixMilliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return time(parts, unixMilliseconds)
    }

    private static func time(_ parts: tm, _ unixMilliseconds: Int64) -> String {
        let digits = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int64($0), to: 2) }
        return digits.joined(separator: ":") + "." + padded(unixMilliseconds % 1000, to: 3)
    }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

/// Ages and durations in words.
public enum Age {
    /// Parses a time in the format of ``ClockText/utc(_:)``.
    ///
    /// - Returns: milliseconds since 1970; nil for any other text.
    public static func unixMilliseconds(_ text: String) -> Int64? {
        let numbers = text.split { "-T:.Z".contains($0) }.compactMap { Int32($0) }
        guard numbers.count == 7, (1970...9999).contains(numbers[0]) else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
        let milliseconds = Int64(timegm(&parts)) * 1000 + Int64(numbers[6])
        // `timegm` accepts dates that don't exist, such as February 30; such a text differs from the formatted result.
        return ClockText.utc(milliseconds) == text ? milliseconds : nil
    }

    /// Returns `now`, `40 s ago`, `12 min ago`, `5 h ago` or `3 d ago`; a time in the future counts as now.
    public static func text(from then: Int64, to now: Int64) -> String {
        let seconds = max(0, now - then) / 1000
        return switch seconds {
        case ..<2: "now"
        case ..<120: "\(seconds) s ago"
        case ..<7200: "\(seconds / 60) min ago"
        case ..<172_800: "\(seconds / 3600) h ago"
        default: "\(seconds / 86_400) d ago"
        }
    }

    /// Returns a duration in its two largest units: `2 d 5 h`, `3 min 20 s`.
    public static func span(seconds: Int64) -> String {
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
