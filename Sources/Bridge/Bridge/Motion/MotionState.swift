import JacquardProtocol
import Time

/// The known state of a tag's motion sensor, and the operation that runs. Only of a tag whose motion sensor was used.
struct MotionState: Sendable {
    /// The destination of the data.
    enum Mode: String, Sendable {
        case none, store, stream
    }

    /// The latest use of the sensor, which may have ended.
    struct Use: Sendable {
        /// `none` after its end.
        var mode = Mode.none
        /// The name of the recording.
        var session: String?
        var rates: MotionRates?
        /// The samples that the latest stream has lost.
        var lost = 0
    }

    /// A stream in progress.
    struct Stream: Sendable {
        var isBinary: Bool
        /// When the stream is stopped: a forgotten one empties the battery.
        var until: Instant
        var batch = MotionBatch()
    }

    /// A session that is transferred to a file.
    struct Download: Sendable {
        var session: StoredMotionSession
        /// Whether the session is erased on the tag afterwards.
        var isErased: Bool
        /// The number of bytes in the file.
        var received = 0
        var checksum = CRC16()
        /// The bytes that were given to the file and are not written yet.
        var unwritten = 0
        /// Whether the tag sends, after the file was opened.
        var isRunning = false
        /// Whether all bytes have arrived.
        var isComplete = false
        /// Until when a lost link is waited for; nil while the tag is connected.
        var until: Instant?
        /// When the next packet must arrive; nil while none is expected.
        var silentAt: Instant?
    }

    /// The end of the latest download.
    struct EndedDownload: Sendable {
        /// The file of the last complete download.
        var file: String?
        /// Why the last download, or the erasing after it, has failed.
        var error: String?
        /// The session whose erasing has got no answer, until the sessions are listed.
        var doubted: MotionSessionID?
        /// The downloaded session that is erased on the tag at the next connection.
        var unerased: MotionSessionID?
    }

    /// The purpose of a command of the bridge's own.
    enum Errand: Sendable {
        case check, list, stop, deactivate
        case download(MotionSessionID, offset: UInt32)
        case erase(MotionSessionID)
    }

    var module: MotionModuleStatus.Module?
    /// Whether the tag was ever found to have the module.
    var isPresent = false
    var status: MotionStatus?
    var use = Use()
    /// The latest list of sessions; nil until they were listed.
    var sessions: [StoredMotionSession]?
    var stream: Stream?
    var download: Download?
    var lastDownload = EndedDownload()
    /// When the unused module is deactivated.
    var idleAt: Instant?
    var streamEnd = MotionStreamEnd()
    var doubt = MotionDoubt()
    /// The bridge's own commands by token.
    var errands: [UInt64: Errand] = [:]

    /// The most bytes that wait to be written to a file.
    static let mostUnwritten = 65_536
    /// How long a lost link is waited for.
    static let patience = Duration.seconds(3600)
    /// How long the tag may send nothing during a download. It repeats a packet after two seconds.
    static let silence = Duration.seconds(15)

    /// - Parameter isPresent: whether the tag was ever found to have the module.
    init(isPresent: Bool = false) {
        self.isPresent = isPresent
    }

    /// When something becomes due.
    var deadline: Instant? {
        var deadline = idleAt
        deadline.lower(to: stream?.until)
        deadline.lower(to: stream?.batch.due)
        deadline.lower(to: download?.silentAt)
        deadline.lower(to: download?.until)
        deadline.lower(to: streamEnd.due)
        deadline.lower(to: doubt.due)
        return deadline
    }

    /// Handles a list of sessions.
    mutating func listed(_ list: [StoredMotionSession], isComplete: Bool) {
        // A part of the list replaces nothing.
        if isComplete || sessions == nil { sessions = list }
        guard isComplete else { return }
        doubt.sessionsListed()
        if let doubted = lastDownload.doubted, !list.contains(where: { $0.id == doubted }) { lastDownload.error = nil }
        lastDownload.doubted = nil
    }

    /// Whether the raw data characteristic is used.
    var usesRawData: Bool { stream != nil || download?.isRunning == true }

    /// Whether anything runs that needs the module.
    var isBusy: Bool {
        switch status {
        // Also if another client has begun it.
        case .logging, .transferring, .erasing: true
        default: use.mode != .none || download != nil
        }
    }

    /// Handles the end of a use of the module, which is deactivated after a while.
    mutating func used(idle: Duration, at now: Instant) {
        switch module {
        case .inactive, .missing: idleAt = nil
        case .active, nil: idleAt = isBusy ? nil : now + idle
        }
    }

    /// Handles a module that was deactivated or deleted, which ends everything.
    mutating func ended(as module: MotionModuleStatus.Module) {
        endStream()
        reported(MotionModuleStatus(module: module, status: nil))
        (download, idleAt) = (nil, nil)
    }

    /// Ends the stream; what it has lost stays known.
    mutating func endStream() {
        if let stream { use.lost = stream.batch.losses.lost }
        stream = nil
        use.mode = .none
    }

    /// Ends the stream with its link.
    mutating func streamLost() {
        endStream()
        status = nil
    }

    /// Handles a reported state of the module.
    mutating func reported(_ status: MotionModuleStatus) {
        let recording = doubt.takeRecording()
        module = status.module
        if status.module != .missing { isPresent = true }
        self.status = status.status
        if status.status != .logging { use.mode = .none }
        if status.status == .logging, use.mode == .none, let recording {
            (use.mode, use.session, use.rates) = (.store, recording.session, recording.rates)
        }
    }
}

/// Samples that wait to be published together: of 50 ms, or 32 samples.
struct MotionBatch: Sendable {
    static let most = 32
    static let longest = Duration.milliseconds(50)

    private(set) var samples: [UInt8] = []
    private(set) var sensor: UInt8 = 0
    /// When they are published; nil without samples.
    private(set) var due: Instant?
    /// The number of the first sample of the batch since the start of the stream.
    private(set) var first: UInt32 = 0
    private(set) var losses = MotionLossCounter()

    var count: Int { samples.count / MotionSample.byteCount }

    /// Adds samples.
    ///
    /// - Returns: whether the batch is to be published now.
    mutating func add(_ value: MotionValue, at now: Instant) -> Bool {
        if samples.isEmpty {
            due = now + Self.longest
            samples.reserveCapacity(Self.most * MotionSample.byteCount)
        }
        sensor = value.sensor
        samples += value.samples
        value.forEach { losses.add($0.ticks) }
        return count + 2 >= Self.most || due.map { $0 <= now } ?? false
    }

    /// Ends the batch and begins the next one.
    mutating func end() {
        first &+= UInt32(count)
        samples = []
        due = nil
    }
}
