/// Timeouts and pauses of the central. The defaults suit real controllers; tests shorten some of them.
struct Timing {
    /// Timeout of a call without a timeout of its own.
    var call = Duration.seconds(10)
    /// Timeout of `Connect`. BlueZ normally ends an attempt after 20 to 40 s.
    var connect = Duration.seconds(45)
    /// Timeout of `Connect` for a device that was not heard. A device in range answers within a few advertising
    /// intervals. For an absent one, the radio does not receive other devices during the attempt.
    var connectUnheard = Duration.seconds(8)
    /// Timeout of an attempt while another device waits, which can be neither heard nor connected during the attempt.
    var connectContended = Duration.seconds(10)
    /// Timeout of `AcquireNotify`. A device confirms within a few connection intervals.
    var acquire = Duration.seconds(6)
    /// Timeout of the read that checks for a required bond.
    var probe = Duration.seconds(3)
    /// Timeout of an access that BlueZ repeats after a pairing.
    var afterBond = Duration.seconds(1)
    /// Timeout of a pairing without user interaction.
    var bond = Duration.seconds(10)
    /// How long BlueZ may take to report the client that has acquired refused notifications.
    var taken = Duration.seconds(2)
    /// Timeout of `Pair`. The user may have to press the tag's button.
    var pair = Duration.seconds(60)
    /// Timeout of `ServicesResolved` after a request for a service.
    var resolving = Duration.seconds(30)
    /// How long objects of the service may be missing after `ServicesResolved`. They are added at about the same time,
    /// before or after it.
    var grace = Duration.seconds(3)
    /// How long a link may stay up after BlueZ has closed one of its descriptors. BlueZ closes them just before it
    /// reports the end.
    var linkEnd = Duration.seconds(2)
    /// The pause before `AcquireNotify` is called again after BlueZ has closed a descriptor, or while it holds that of a client
    /// that has left.
    var descriptorPause = Duration.milliseconds(50)
    /// How long to retry a write while BlueZ is busy. Less than the timeout of a tag's response.
    var busy = Duration.seconds(5)
    /// The first pause before a write is repeated.
    var busyPause = Duration.milliseconds(10)
    /// The longest pause before a write is repeated.
    var longestBusyPause = Duration.milliseconds(320)
    /// The first pause after another failed call. Each further one is twice as long.
    var firstPause = Duration.seconds(1)
    /// The longest pause after another failed call.
    var longestPause = Duration.seconds(60)
    /// How long discovery may receive nothing before it is restarted.
    var silence = Duration.seconds(180)
    /// When devices are tried that were not heard.
    var queue = ConnectQueue.Timing()
}
