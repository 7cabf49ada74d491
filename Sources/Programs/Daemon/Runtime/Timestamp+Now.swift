import Bridge
import EventLoop

extension Timestamp {
    /// The current time: the monotonic clock and the wall clock.
    static var now: Timestamp { Timestamp(instant: .now, unixMilliseconds: WallClock.unixMilliseconds) }
}
