import Glibc
import JSON

/// The formats of times in the output of commands.
public enum ClockText {
    /// Returns `11:15:02.114`, in the local time zone.
    public static func local(_ unixMilliseconds: Int64) -> String {
        var seconds = time_t(unixMilliseconds / 1_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let text = TimeText.utc(unixMilliseconds + Int64(parts.tm_gmtoff) * 1_000)
        return String(text.dropFirst("2026-11-20T".count).dropLast("Z".count))
    }
}

/// Ages and durations in words.
public enum Age {
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
