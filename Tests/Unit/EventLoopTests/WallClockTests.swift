import EventLoop
import Glibc
import Testing

@Suite("Wall clock")
struct WallClockTests {
    @Test("returns the time of the system in milliseconds")
    func now() {
        let before = Int64(time(nil)) * 1000
        let now = WallClock.unixMilliseconds
        #expect((before...(Int64(time(nil)) + 1) * 1000).contains(now))
    }
}
