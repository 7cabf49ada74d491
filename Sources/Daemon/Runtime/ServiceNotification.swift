import CSystemd
import Configuration
import Glibc

/// Words to the service manager (sd_notify(3)); without one they go nowhere.
enum ServiceNotification {
    /// The bridge works.
    static func ready() {
        sd_notify(0, "READY=1")
    }

    /// The configuration is read again; ``ready()`` follows. With the time, as `Type=notify-reload` wants it.
    static func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        sd_notify(0, "RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
    }

    /// The bridge is on its way out.
    static func stopping() {
        sd_notify(0, "STOPPING=1")
    }
}
