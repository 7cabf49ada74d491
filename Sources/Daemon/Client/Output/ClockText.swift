import FoundationEssentials
import Glibc

/// The time of day in the two forms that commands print.
enum ClockText {
    /// `2026-11-20T10:15:02.114Z`, as the MQTT contract writes times.
    static func utc(_ unixMilliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(unixMilliseconds) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// `11:15:02.114`, on the clock of this place.
    static func local(_ unixMilliseconds: Int64) -> String {
        var seconds = time_t(unixMilliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let digits = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int64($0), to: 2) }
        return digits.joined(separator: ":") + "." + padded(unixMilliseconds % 1000, to: 3)
    }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
