internal import Glibc
public import Time

extension Instant {
    /// The present. The clock is `CLOCK_BOOTTIME`.
    public static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(
            sinceBoot: Duration(
                secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000))
    }
}
