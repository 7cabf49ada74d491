import EventLoop
import Glibc
import Testing

@Suite("Wall clock")
struct WallClockTests {
    @Test("returns the time of the system in milliseconds")
    func now() {
        let before = Self.milliseconds
        let now = WallClock.unixMilliseconds
        #expect((before...Self.milliseconds).contains(now))
    }

    /// Not by `time`, whose clock can be some milliseconds late.
    private static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
