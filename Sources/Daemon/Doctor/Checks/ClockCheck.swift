import Bridge

/// Whether the clock of the machine can be right: certificates and times in topics depend on it.
enum ClockCheck {
    /// The first second of 2026, before which this program was not written.
    private static let earliest: Int64 = 1_767_225_600

    /// The time of day, in seconds since 1970.
    static func probe() -> Int64 {
        Moment.now.unixMilliseconds / 1000
    }

    /// Says what time it is here.
    static func finding(unixSeconds: Int64) -> Finding {
        let text = ClockText.utc(unixSeconds * 1000)
        guard unixSeconds >= earliest else {
            return Finding(
                .clock, .failed, "the clock is wrong: it shows \(text)",
                remedies: ["sudo timedatectl set-ntp true", "sudo apt install systemd-timesyncd"])
        }
        return Finding(.clock, .ok, text)
    }
}
