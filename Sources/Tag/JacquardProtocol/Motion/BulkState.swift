import Time

/// Modules, motion data and raw data on one link. Unused on nearly all links.
struct BulkState: Sendable {
    /// The request that a notification ends.
    indirect enum Waiting: Sendable {
        /// A module is being loaded. Motion data may continue with a goal.
        case loading(ModuleDescriptor, then: MotionGoal?)
        /// Sessions are being listed.
        case listing(MotionSessionList)
        /// Sessions are being erased.
        case erasing
    }

    /// A command that waits for a notification.
    struct Waiter: Sendable {
        let token: UInt64
        fileprivate(set) var what: Waiting
        fileprivate(set) var deadline: Instant
    }

    /// How long a tag may take to load a module, and to send the next session of a list.
    static let patience = Duration.seconds(10)
    /// How long erasing may take. Source: JacquardSDKAndroid.
    static let erasing = Duration.seconds(60)

    /// The commands that wait for notifications, the first one first. The tag carries them out in this order.
    private var waiters: [Waiter] = [] { didSet { changed() } }
    /// Whether the motion module has been found active on this link.
    var isModuleActive = false
    /// Whether values of raw data are motion samples.
    var isStreaming = false { didSet { changed() } }
    /// Whether packets of raw data are parts of a session.
    private(set) var isDownloading = false { didSet { changed() } }
    /// The notifications that have arrived before the response to the request whose result they report: both
    /// characteristics have a queue of their own, and the driver may read them in any order. nil unless such a request
    /// was sent.
    private var early: [Notification]?
    /// The requested views of raw data.
    var views: RawViews = [] { didSet { changed() } }
    /// Whether values of raw data are looked at.
    private(set) var readsRawData = false
    /// Whether a command about modules or motion data goes on after a notification: the next one waits until then.
    private(set) var isInTheMiddle = false

    private var packets = Reassembler()
    /// The sequence of the last packet of a download.
    private var lastSequence: UInt8?

    /// When a command has waited for too long; nil if none waits.
    var deadline: Instant? { waiters.lazy.map(\.deadline).min() }

    /// Whether notifications are kept.
    var keepsEarly: Bool { early != nil }

    /// Keeps the notifications that arrive until ``takeEarly()``.
    mutating func keepEarly() {
        early = []
    }

    /// Keeps a notification, if it may report the result of a request without a response so far.
    ///
    /// - Returns: whether it was kept.
    mutating func keep(_ notification: Notification) -> Bool {
        guard let count = early?.count, count < MotionSessionList.most else { return false }
        early?.append(notification)
        return true
    }

    /// Ends ``keepEarly()`` and returns the notifications that were kept, in order.
    mutating func takeEarly() -> [Notification] {
        defer { early = nil }
        return early ?? []
    }

    /// Lets a command wait for a notification.
    mutating func wait(_ token: UInt64, for what: Waiting, at now: Instant) {
        let limit = if case .erasing = what { Self.erasing } else { Self.patience }
        waiters.append(Waiter(token: token, what: what, deadline: now + limit))
    }

    /// Ends the first command that waits for the end of erasing; nil if none does.
    mutating func takeErasing() -> UInt64? {
        waiters.firstIndex { if case .erasing = $0.what { true } else { false } }.map { waiters.remove(at: $0).token }
    }

    /// Ends the commands that meet a condition.
    mutating func take(where isMeant: (Waiter) -> Bool) -> [Waiter] {
        let taken = waiters.filter(isMeant)
        waiters.removeAll(where: isMeant)
        return taken
    }

    /// Adds an entry to the first list that is awaited.
    ///
    /// - Returns: the command, with the list if it has ended; nil if no list is awaited.
    mutating func listed(_ entry: MotionSessionEntry, at now: Instant) -> (token: UInt64, list: MotionSessionList?)? {
        for (position, waiter) in waiters.enumerated() {
            guard case .listing(var list) = waiter.what else { continue }
            list.add(entry)
            guard list.isComplete || list.isFull else {
                waiters[position].what = .listing(list)
                waiters[position].deadline = now + Self.patience
                return (waiter.token, nil)
            }
            waiters.remove(at: position)
            return (waiter.token, list)
        }
        return nil
    }

    /// Starts a download: the next packet has any sequence.
    mutating func beginDownload() {
        packets = Reassembler()
        lastSequence = nil
        isDownloading = true
    }

    /// Ends a download.
    mutating func endDownload() {
        isDownloading = false
    }

    private mutating func changed() {
        isInTheMiddle = waiters.contains { if case .erasing = $0.what { false } else { true } }
        readsRawData = isStreaming || isDownloading || !views.isEmpty
    }

    /// Handles a value of the raw data characteristic.
    ///
    /// - Returns: what to report, and the acknowledgement to send.
    mutating func received(_ value: [UInt8]) -> (events: [TagEvent], acknowledgement: [UInt8]?) {
        var events: [TagEvent] = []
        if views.contains(.value) { events.append(.raw(value, view: .value)) }
        if isStreaming, let samples = MotionValue(value) { return (events + [.motion(.samples(samples))], nil) }
        guard isDownloading || !views.isDisjoint(with: [.packet, .payload]),
            case .packet(let packet) = packets.receive(value), let sequence = packet.first
        else { return (events, nil) }
        let data = Array(packet.dropFirst())
        if views.contains(.packet) { events.append(.raw(Array(packet), view: .packet)) }
        if views.contains(.payload) { events.append(.raw(data, view: .payload)) }
        guard isDownloading else { return (events, nil) }
        // A repeated packet is acknowledged again and dropped: the acknowledgement was lost.
        if sequence != lastSequence { events.append(.motion(.data(data))) }
        lastSequence = sequence
        return (events, [sequence, Self.acknowledged])
    }

    /// Follows the sequence in an acknowledgement: `A`.
    private static let acknowledged: UInt8 = 0x41
}

/// A list of sessions that arrives in entries. Those that were lost on the air are missing, and others may come twice.
struct MotionSessionList: Sendable {
    /// The most entries. A tag stores fewer sessions; a broken one could send them without end.
    static let most = 1000

    private(set) var sessions: [StoredMotionSession] = []
    /// The positions of the entries.
    private var positions: Set<UInt32> = []
    /// Whether all entries have arrived.
    private(set) var isComplete = false

    /// Whether no further entry is accepted.
    var isFull: Bool { positions.count == Self.most }

    /// Adds an entry, unless it has arrived already.
    mutating func add(_ entry: MotionSessionEntry) {
        guard positions.insert(entry.index ?? UInt32(positions.count)).inserted else { return }
        if let session = entry.session { sessions.append(session) }
        isComplete = positions.count >= entry.total ?? 0
    }
}

/// The requested views of the raw data characteristic.
///
/// Source: JacquardSDKiOS, `subscribeRawBytes`, `subscribeRawDataPacket` and `subscribeRawData`.
public struct RawViews: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Each value unchanged.
    public static let value = RawViews(rawValue: 1)
    /// Each packet with its sequence byte.
    public static let packet = RawViews(rawValue: 2)
    /// Each packet without its sequence byte.
    public static let payload = RawViews(rawValue: 4)
}

/// The use of motion data that is wanted.
public indirect enum MotionGoal: Equatable, Sendable {
    /// Read the state.
    case status
    /// Load the module.
    case activate
    /// Record a session on the tag.
    case record(MotionSessionID, MotionRates)
    /// Stream samples.
    case stream(MotionRates)
    /// Stop recording, streaming, or a download.
    case stop
    /// List the sessions on the tag.
    case sessions
    /// Transfer a session from an offset on.
    case download(MotionSessionID, offset: UInt32)
    /// Erase a session; nil: all.
    case erase(MotionSessionID?)
}

/// A change of a module.
public enum ModuleAction: String, Hashable, Sendable, CaseIterable {
    /// Load it.
    case activate
    /// Unload it.
    case deactivate
    /// Delete it. It can't be restored without its image.
    case delete
}

/// Motion data that a tag has sent without a request of its own.
public enum MotionReport: Equatable, Sendable {
    /// Samples of a stream.
    case samples(MotionValue)
    /// A part of a session that is transferred; empty at an early end.
    case data([UInt8])
}

/// The motion module and its state.
public struct MotionModuleStatus: Equatable, Sendable {
    /// Whether the tag has the module, and runs it.
    public enum Module: Hashable, Sendable {
        case active, inactive, missing
    }

    /// Whether the tag has the module, and runs it.
    public let module: Module
    /// The state; nil unless the module is active.
    public let status: MotionStatus?

    /// Creates a status.
    public init(module: Module, status: MotionStatus?) {
        self.module = module
        self.status = status
    }
}
