import Bridge
import EventLoop

extension Moment {
    /// The current time: the monotonic clock and the wall clock.
    static var now: Moment { Moment(instant: .now, unixMilliseconds: WallClock.unixMilliseconds) }
}
