import EventLoop
import Glibc
import TestSupport
import Time

/// The whole play: makes troubles, and checks what comes of them.
@LoopActor
final class Soak {
    let options: SoakOptions
    let stage: Stage
    let reader: Reader
    /// Receives what the broker has taken from the bridge, as soon as it has it.
    let witness: Reader
    var random: SplitMix
    /// For troubles that concern everybody, so that their order does not depend on the number of small events.
    var troubleRandom: SplitMix
    var troubles = Troubles()
    var gestures = GestureLedger()
    var commands = CommandLedger()
    var record = RecordLedger()
    var isReplayReceived = false
    var tags: [String: TagView] = [:]
    var later = DeadlineQueue<Remedy>()
    /// The latest events, to investigate a failure.
    private(set) var history: [String] = []
    private(set) var violations: [String] = []
    var nextNumber: UInt32 = 1000
    var nextCommand = 1
    /// The parts that are well again if the bridge answers a question asked after this time.
    var healing: [TroubledPart: ContinuousClock.Instant] = [:]
    var probes: [String: ContinuousClock.Instant] = [:]
    var lastProbe = ContinuousClock.now
    /// Whether the bridge's end was wanted.
    var isBridgeEnding = false
    var isInterrupted = false
    /// The signal that ends the daemon, and when it was sent.
    var endOfDaemon: (signal: Int32, since: ContinuousClock.Instant)?
    /// Whether no new operations are started.
    var isDraining = false
    /// The programs are being ended.
    var isEnding = false
    /// When each result without an id came.
    var anonymousResults: [String: ContinuousClock.Instant] = [:]
    var nextReview = ContinuousClock.now
    /// When the simulator is asked next what its tags are.
    var nextListing = ContinuousClock.now
    /// How long a published touch mode differed from the tag's at most.
    var longestWrongMode = Duration.zero
    let started = ContinuousClock.now

    init(_ options: SoakOptions) async throws {
        self.options = options
        random = SplitMix(seed: options.seed)
        troubleRandom = SplitMix(seed: options.seed &+ 0x51AB)
        stage = try await Stage(options)
        reader = Reader(.everything, port: stage.broker.port)
        witness = Reader(.witness, port: stage.broker.port)
        for serial in options.serials { tags[serial] = TagView(at: .now) }
        stage.onSimulatorLine = { [unowned self] in simulatorSaid($0) }
        reader.onMessage = { [unowned self] in received($0) }
        reader.onAcknowledged = { [unowned self] in commands.acknowledged($0) }
        reader.onDisconnected = { [unowned self] in lost("reader") }
        witness.onMessage = { [unowned self] in witnessed($0) }
        witness.onDisconnected = { [unowned self] in lost("witness") }
    }

    /// Remembers an event.
    func note(_ event: String) {
        history.append("\((ContinuousClock.now - started).inSeconds) \(event)")
        if history.count > 400 { history.removeFirst(200) }
    }

    /// A rule is broken.
    func violated(_ text: String) {
        note("VIOLATION: " + text)
        violations.append(text)
        print("\((ContinuousClock.now - started).inSeconds) VIOLATION: \(text)")
        // The first ones report the state before them.
        if violations.count <= 5 {
            print("  before it:\n" + history.suffix(25).map { "    \($0)" }.joined(separator: "\n"))
        }
        fflush(nil)
    }

    /// Types a line at the simulator.
    func simulate(_ line: String) {
        note(line)
        stage.simulator?.type(line)
    }
}

extension Duration {
    /// Seconds with one decimal.
    var inSeconds: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
