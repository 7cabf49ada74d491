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
        /// A connection that lasted this long was a good one: the next loss begins with the shortest pause.
        public var stable = Duration.seconds(10)

        /// The SDK's values, and ours where it has none.
        public init() {}
    }
}
