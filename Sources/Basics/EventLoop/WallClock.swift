internal import CSystemd
internal import Glibc

/// The time of day.
public enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z (`CLOCK_REALTIME`).
    public static var unixMilliseconds: Int64 {
        if let virtual = EventLoop.shared.virtual { return LoopActor.assumeIsolated(virtual) { $0.unixMilliseconds } }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
