import Glibc

/// The time of day in the two forms that commands print.
enum ClockText {
    /// `2026-11-20T10:15:02.114Z`, as the MQTT contract writes times.
    static func utc(_ unixMilliseconds: Int64) -> String {
        var seconds = time_t(unixMilliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
            .map { padded(Int64($0), to: $1) }.joined(separator: "-")
        return "\(date)T\(time(parts, unixMilliseconds))Z"
    }

    /// `11:15:02.114`, on the clock of this place.
    static func local(_ unixMilliseconds: Int64) -> String {
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
