extension TagSession {
    /// How long things may take.
    public struct Timing: Hashable, Sendable {
        /// From the beginning of an attempt until the three notifications are on. The SDK's 60 seconds.
        public var connect = Duration.seconds(60)
        /// For each answer of hello, begin and device information.
        public var start = Duration.seconds(2)
        /// For each answer after that.
        public var request = Duration.seconds(8)
        /// For the confirmation of a write; a link that owes it is of no more use. Bluetooth Core, Vol 3, Part F, 3.3.3.
        public var write = Duration.seconds(30)
        /// For the link to go down after we asked for it.
        public var close = Duration.seconds(10)
        /// For the tag to tell its gear after it was connected; then there is none. Real tags tell theirs at once, and
        /// whether they tell that there is none is not known.
        public var gearAnnouncement = Duration.seconds(2)
        /// For the tag to announce its battery after it was connected; then it is asked.
        public var batteryAnnouncement = Duration.seconds(2)
        /// From a battery value, or an attempt to get one, to the next request for it.
        public var batteryInterval = Duration.seconds(3600)
        /// For the answer to the probe of a tag that has left ``unansweredLimit`` requests in a row without an answer.
        public var probe = Duration.seconds(4)
        /// How many requests in a row may time out, without any other value from the tag, before it is probed.
        public var unansweredLimit = 2
        /// For values of the former touch mode to arrive after gear has confirmed another one.
        public var touchModeChange = Duration.seconds(1)
        /// A connection that lasted this long was a good one: the next loss begins with the shortest pause.
        public var stable = Duration.seconds(10)

        /// The SDK's values, and ours where it has none.
        public init() {}
    }
}
