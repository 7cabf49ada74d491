import Time

/// The values of the session's interface.
extension TagSession {
    /// An action of the driver.
    public enum Action: Equatable, Sendable {
        /// Make a link as soon as the tag advertises. Ends with `linkUp` or `linkDown`.
        case connect
        /// Drop the link or cancel the attempt to make one. Ends with `linkDown`.
        case disconnect
        /// Make a bond on the link. Ends with `bonded` or `bondingFailed`.
        case bond
        /// Discover the service. Ends with `discovered` or `discoveryFailed`.
        case discover
        /// Enable notifications. Ends with `subscribed` or `subscribeFailed`.
        case subscribe(TagCharacteristic)
        /// Write to the command characteristic. Ends with `written` or `writeFailed`; no other write comes before that.
        case write([UInt8], withResponse: Bool)
        /// Write to the raw data characteristic without response. Ends as ``write(_:withResponse:)`` does.
        case writeRaw([UInt8])
        /// Report an event.
        case emit(TagEvent)
    }

    /// Which errors are final.
    public enum RetryRule: Equatable, Sendable, CaseIterable {
        /// Only a lost bond. For a known tag. The SDK's `connect(identifier)`.
        case always
        /// Any error before the three subscriptions are confirmed, then as ``always``. For a tag found by a scan, which
        /// may be gone or belong to another user. The SDK's `connect(tag)`.
        case oncePaired
    }

    /// The properties of the command characteristic.
    public struct Properties: OptionSet, Hashable, Sendable {
        /// The bits. They are not those of the Bluetooth specification.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Write with response.
        public static let write = Properties(rawValue: 1)
        /// Write without response. Firmware below 1.43.0 permits nothing else.
        public static let writeWithoutResponse = Properties(rawValue: 2)
    }

    /// Timeouts and intervals of a session.
    public struct Timing: Equatable, Sendable {
        /// Timeout from the start of an attempt until the three subscriptions are confirmed. As in the SDK.
        public var connect = Duration.seconds(60)
        /// Timeout of each response to hello, begin and device information.
        public var start = Duration.seconds(2)
        /// Timeout of each later response.
        public var request = Duration.seconds(8)
        /// Timeout of a write. A link with an unconfirmed write cannot be used further. Bluetooth Core, Vol 3, Part F,
        /// 3.3.3.
        public var write = Duration.seconds(30)
        /// Timeout of a requested disconnection.
        public var close = Duration.seconds(10)
        /// How long the tag may take to report its gear after it was connected. Without a report, no gear is attached:
        /// real tags report gear at once, but it is unknown whether they report that there is none.
        public var gearAnnouncement = Duration.seconds(2)
        /// How long the tag may take to report its battery after it was connected. Then the session requests it.
        public var batteryAnnouncement = Duration.seconds(2)
        /// Interval from a battery value or request to the next request.
        public var batteryInterval = Duration.seconds(3600)
        /// Timeout of the probe that follows ``unansweredLimit`` requests without a response.
        public var probe = Duration.seconds(4)
        /// The number of requests that may time out, without any other value from the tag, before the tag is probed.
        public var unansweredLimit = 2
        /// How long values of the previous touch mode may arrive after gear has confirmed a new one.
        public var touchModeChange = Duration.seconds(1)
        /// The pause before a change of the touch mode is repeated that was not answered.
        public var touchModeRepeat = Duration.seconds(2)
        /// After a connection of at least this duration, the pauses start again with the shortest one.
        public var stable = Duration.seconds(10)

        /// Creates the default values: those of the SDK where it has one.
        public init() {}
    }

    /// Timeouts and intervals that many sessions share: each session has a reference, because the values take 184 bytes.
    public final class SharedTiming: Sendable {
        /// The values.
        public let values: Timing

        /// Creates values to share.
        public init(_ values: Timing) {
            self.values = values
        }
    }
}

/// The pauses between connection attempts: doubled each time up to a limit, with random jitter so that many tags don't
/// retry at the same time.
///
/// The SDK retries at once. The pause keeps a tag that refuses connections from occupying the radio.
struct ReconnectSchedule: Sendable {
    /// The first pause, without jitter.
    static let first = Duration.milliseconds(500)
    /// The longest pause, without jitter.
    static let limit = Duration.seconds(60)
    /// The longest pause after a link that had reached `connected`, and while another program has the link, including
    /// jitter. It is shorter because the tag is present.
    static let limitWhilePresent = Duration.seconds(8)

    private var backoff = Backoff(first: Self.first, longest: Self.limit)
    private var randomness: SplitMix

    /// - Parameter seed: seed of the jitter; equal seeds give equal pauses.
    init(seed: UInt64) {
        randomness = SplitMix(seed: seed)
    }

    /// Returns the pause after one more failure: 75 to 125 % of the doubled pause.
    mutating func next() -> Duration {
        backoff.next() * Double.random(in: 0.75...1.25, using: &randomness)
    }

    /// Returns the pause while the tag is present. Later pauses continue from it.
    mutating func nextWhilePresent() -> Duration {
        backoff.lower(to: Self.limitWhilePresent)
        return min(next(), Self.limitWhilePresent)
    }

    /// Starts again with the first pause.
    mutating func reset() {
        backoff.reset()
    }
}
