import CSystemd
import Configuration
import Glibc

/// Notifies the service manager (sd_notify(3)); without one the calls do nothing.
enum ServiceNotification {
    /// Reports that the bridge is ready.
    static func ready() {
        notify("READY=1")
    }

    /// Reports a reload; ``ready()`` follows. Includes the time, which `Type=notify-reload` requires.
    static func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        notify("RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
    }

    /// Reports that the bridge is stopping.
    static func stopping() {
        notify("STOPPING=1")
    }

    private static func notify(_ state: String) {
        sd_notify(0, state)
    }
}
