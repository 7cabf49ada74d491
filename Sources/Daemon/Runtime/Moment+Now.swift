import Bridge
import EventLoop
import Glibc

extension Moment {
    /// The current time: the monotonic clock and the wall clock.
    static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Moment(instant: .now, unixMilliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
