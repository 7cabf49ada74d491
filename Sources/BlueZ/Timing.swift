/// How long the central waits for what. The defaults are what real controllers need; tests shorten some of them.
struct Timing {
    /// For the answer to a call that has no other limit.
    var call = Duration.seconds(10)
    /// For the answer to `Connect`. BlueZ gives up by itself after 20 to 40 s; this is for one that does not.
    var connect = Duration.seconds(45)
    /// For the answer to `Connect` of a device that has not been heard: one that is there answers within a few of its
    /// advertising intervals, and for one that is away the radio is deaf to all others meanwhile.
    var connectUnheard = Duration.seconds(8)
    /// How long an attempt may take while another device waits: it can be neither heard nor connected meanwhile.
    var connectContended = Duration.seconds(10)
    /// For the answer to `AcquireNotify`: a device confirms within a few of its connection intervals.
    var acquire = Duration.seconds(6)
    /// For the answer to the read that finds out whether a device wants a bond.
    var probe = Duration.seconds(3)
    /// For the answer to an access that BlueZ repeats after a pairing.
    var afterBond = Duration.seconds(1)
    /// For a bond that is made without a person.
    var bond = Duration.seconds(10)
    /// How long BlueZ may take to say that another client has got the notifications that it refuses to us.
    var taken = Duration.seconds(2)
    /// For the answer to `Pair`. A person may have to press the tag's button meanwhile.
    var pair = Duration.seconds(60)
    /// For `ServicesResolved` after a service has been asked for.
    var resolving = Duration.seconds(30)
    /// How long the service may be missing after BlueZ has said that all services are resolved: its objects come at
    /// about the same time, before or behind.
    var grace = Duration.seconds(3)
    /// How long a link may stay up after BlueZ has closed a descriptor of it: it does so just before it tells the end.
    var deafness = Duration.seconds(2)
    /// For a write that BlueZ is too busy to take. Less than a tag may take to answer.
    var busy = Duration.seconds(5)
    /// The first pause before such a write is repeated.
    var busyPause = Duration.milliseconds(10)
    /// The longest pause before such a write is repeated.
    var longestBusyPause = Duration.milliseconds(320)
    /// The first pause after a refusal; each further one is twice as long.
    var firstPause = Duration.seconds(1)
    /// The longest pause after a refusal.
    var longestPause = Duration.seconds(60)
    /// How long a discovery may hear nothing before it is doubted.
    var silence = Duration.seconds(180)
    /// When a device is tried that has not been heard.
    var queue = ConnectQueue.Patience()
}
