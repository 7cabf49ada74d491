extension TagSession {
    /// Timeouts and intervals of a session.
    public struct Timing: Hashable, Sendable {
        /// Timeout from the start of an attempt until the three subscriptions are confirmed. As in the SDK.
        public var connect = Duration.seconds(60)
        /// Timeout of each response to hello, begin and device information.
        public var start = Duration.seconds(2)
        /// Timeout of each later response.
        public var request = Duration.seconds(8)
        /// Timeout of a write. A link with an unconfirmed write cannot be used further. Bluetooth Core, Vol 3, Part
        /// F, 3.3.3.
        public var write = Duration.seconds(30)
        /// Timeout of a requested disconnection.
        public var close = Duration.seconds(10)
        /// How long the tag may take to report its gear after it was connected. Without a report, no gear is
        /// attached: real
        /// tags report gear at once, but it is unknown whether they report that there is none.
        public var gearAnnouncement = Duration.seconds(2)
        /// How long the tag may take to report its battery after it was connected. Then the session requests it.
        public var batteryAnnouncement = Duration.seconds(2)
        /// Interval from a battery value or request to the next request.
        public var batteryInterval = Duration.seconds(3600)
        /// Timeout of the probe that follows ``unansweredLimit`` requests without a response.
        public var probe = Duration.seconds(4)
        /// The number of requests that may time out, without any other value from the tag, before the tag is
        /// probed.
        public var unansweredLimit = 2
        /// How long values of the previous touch mode may arrive after gear has confirmed a new one.
        public var touchModeChange = Duration.seconds(1)
        /// After a connection of at least this duration, the pauses start again with the shortest one.
        public var stable = Duration.seconds(10)

        /// Creates the default values: those of the SDK where it has one.
        public init() {}
    }
}
