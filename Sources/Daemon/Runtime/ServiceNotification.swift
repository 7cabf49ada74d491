import CSystemd

/// Words to the service manager (sd_notify(3)); without one they go nowhere.
enum ServiceNotification {
    /// The bridge works.
    static func ready() {
        sd_notify(0, "READY=1")
    }

    /// The bridge is on its way out.
    static func stopping() {
        sd_notify(0, "STOPPING=1")
    }

    /// One line for `systemctl status`.
    static func status(_ text: String) {
        sd_notify(0, "STATUS=\(text)")
    }
}
