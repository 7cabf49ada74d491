import JSON
import JacquardProtocol
import Text
import Time

/// `imu/get`: reads the state of the motion sensor.
struct MotionGet: TagRequest {
    static let name = "imu/get"

    let command: TagCommand? = .motion(.status)

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        TagRequestOutcome(response, aboutMotionOf: &tag, &effects)
    }
}

/// `imu/sessions/get`: lists the sessions on the tag.
struct MotionSessionsGet: TagRequest {
    static let name = "imu/sessions/get"

    let command: TagCommand? = .motion(.sessions)
    private let idle: Duration

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
        idle = context.options.features.motion.idle
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        let outcome = TagRequestOutcome(response, aboutMotionOf: &tag, &effects)
        tag.motion.used(idle: idle, at: now.instant)
        return outcome
    }
}

/// `imu/set`: an action with the motion sensor.
struct MotionSet: TagRequest {
    static let name = "imu/set"
    static var needsPayload: Bool { true }
    static let keys = [
        "action", "session", "group", "campaign", "product", "subject", "accelerometer_hz", "gyroscope_hz", "seconds",
        "format", "erase", "confirm",
    ]

    private enum Action: String, CaseIterable {
        case activate, deactivate, record, stop, stream, download, erase
        case eraseAll = "erase_all"
    }

    private enum Work {
        case activate, deactivate, stop
        case record(MotionSessionID, MotionRates)
        case stream(MotionRates, seconds: UInt32, isBinary: Bool)
        case download(MotionSessionWords, isErased: Bool)
        case erase(MotionSessionID)
        case eraseAll
    }

    private let work: Work
    /// The session to be erased; nil for other work.
    private var words: MotionSessionWords?
    private let idle: Duration

    var command: TagCommand? {
        switch work {
        case .activate: .motion(.activate)
        case .deactivate: .changeModule(.deactivate, named: ModuleDescriptor.motion.name ?? "")
        case .stop: .motion(.stop)
        case .record(let id, let rates): .motion(.record(id, rates))
        case .stream(let rates, _, _): .motion(.stream(rates))
        case .download: .motion(.sessions)
        case .erase(let id): .motion(.erase(id))
        case .eraseAll: .motion(.erase(nil))
        }
    }

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let words = Action.allCases.map { Word($0.rawValue, $0) }
        let arguments = try CommandArguments(payload, word: "action")
        let action = try CommandArguments.required(
            arguments.word("action", of: words), "action", mayBe: words.listed())
        idle = context.options.features.motion.idle
        switch action {
        case .activate: work = .activate
        case .deactivate: work = .deactivate
        case .stop: work = .stop
        case .record:
            if let level = context.batteryLevel, level < 50 {
                throw CommandFailure(
                    .tagError, "The battery is at \(level) %; a recording needs 50 %", hint: "Charge the tag")
            }
            work = .record(try Self.id(arguments), try Self.rates(arguments))
        case .stream:
            let formats = [Word("json", false), Word("binary", true)]
            work = .stream(
                try Self.rates(arguments), seconds: try arguments.integer("seconds", 1...3600, unit: " seconds") ?? 60,
                isBinary: try arguments.word("format", of: formats) ?? false)
        case .download:
            guard context.options.features.motion.folder != nil else {
                throw .hasNoFolder
            }
            if context.motion.download != nil { throw .isDownloading }
            work = .download(try MotionSessionWords(arguments), isErased: try arguments.flag("erase") ?? false)
        case .erase:
            let words = try MotionSessionWords(arguments)
            self.words = words
            let sessions = context.motion.sessions ?? []
            let (stored, id) = (try words.session(in: sessions)?.id, try Self.id(arguments))
            // Another session of this name would be erased: the tag may compare the names only.
            if stored == nil, sessions.contains(where: { $0.id.session == id.session }) { throw words.missing }
            work = .erase(stored ?? id)
        case .eraseAll:
            let confirmed = try arguments.word("confirm", of: [Word("all", true)])
            _ = try CommandArguments.required(confirmed, "confirm", mayBe: "all")
            work = .eraseAll
        }
    }

    private static func id(_ arguments: CommandArguments) throws(CommandFailure) -> MotionSessionID {
        let allowed =
            "1 to \(MotionSessionID.longest) characters, of at most \(MotionSessionID.longestBytes) bytes, without control characters"
        func text(_ key: String) throws(CommandFailure) -> String? {
            try arguments.text(
                key, bytes: 1...MotionSessionID.longestBytes, mayBe: allowed, where: MotionSessionID.isValid)
        }
        var id = MotionSessionID(session: try CommandArguments.required(text("session"), "session", mayBe: allowed))
        if let group = try text("group") { id.group = group }
        if let campaign = try text("campaign") { id.campaign = campaign }
        if let product = try text("product") { id.product = product }
        if let subject = try text("subject") { id.subject = subject }
        return id
    }

    private static func rates(_ arguments: CommandArguments) throws(CommandFailure) -> MotionRates {
        func rate(_ key: String, _ rates: [Double]) throws(CommandFailure) -> Double {
            guard let value = arguments[key] else { return 25 }
            let number: Double? =
                switch value {
                case .integer(let integer): Double(integer)
                case .number(let number): number
                default: nil
                }
            if let number, rates.contains(number) { return number }
            let allowed = rates.map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" }
            throw .invalid(key, is: value, mayBe: allowed.joined(separator: ", "))
        }
        let accelerometer = try rate("accelerometer_hz", MotionRates.accelerometerHertz)
        let gyroscope = try rate("gyroscope_hz", MotionRates.gyroscopeHertz)
        guard let rates = MotionRates(accelerometerHertz: accelerometer, gyroscopeHertz: gyroscope) else { return .low }
        return rates
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        switch work {
        case .download(let words, let isErased):
            return download(words, isErased: isErased, response, on: &tag, at: now, &effects)
        case .record(let id, let rates):
            tag.motion.use.mode = .store
            tag.motion.use.session = id.session
            tag.motion.use.rates = rates
        case .stream(let rates, let seconds, let isBinary):
            tag.motion.use = MotionState.Use(mode: .stream, rates: rates)
            tag.motion.stream = MotionState.Stream(isBinary: isBinary, until: now.instant + .seconds(seconds))
        case .stop:
            tag.motion.endStream()
            tag.motion.download = nil
        case .deactivate: tag.motion.ended(as: .inactive)
        case .erase(let id):
            tag.motion.sessions?.removeAll { $0.id == id }
            tag.motion.foundActive()
        case .eraseAll:
            tag.motion.sessions = []
            tag.motion.foundActive()
        case .activate: break
        }
        let outcome = TagRequestOutcome(response, aboutMotionOf: &tag, &effects)
        tag.motion.used(idle: idle, at: now.instant)
        return outcome
    }

    func failed(on tag: inout TagMirror, _ failure: CommandFailure?, at now: Timestamp) {
        if failure?.leavesEffectUnknown == true { becomesUnknown(on: &tag, at: now) }
        // The tag has loaded the module before it refuses the rest.
        guard let code = failure?.code, [.busy, .tagError, .timeout].contains(code) else { return }
        tag.motion.used(idle: idle, at: now.instant)
    }

    /// Handles a lost response: the state is read again.
    private func becomesUnknown(on tag: inout TagMirror, at now: Timestamp) {
        switch work {
        case .record(let id, let rates): tag.motion.doubt.responseLost(recording: (id.session, rates), at: now.instant)
        // A stream without a reader empties the battery.
        case .stream: tag.motion.streamEnd.mayHaveBegun(at: now.instant)
        case .erase, .eraseAll: tag.motion.doubt.responseLost(changesSessions: true, at: now.instant)
        case .activate, .deactivate, .stop, .download: tag.motion.doubt.responseLost(at: now.instant)
        }
    }

    func failure(_ error: TagCommandError, of tag: borrowing TagMirror, at now: Timestamp) -> CommandFailure {
        // The tag has no such session.
        if case .erase = work, error == .status(.badParameter), let words { return words.missing }
        return tag.failure(of: error, at: now)
    }

    /// Opens the file of the session that is to be transferred.
    private func download(
        _ words: MotionSessionWords, isErased: Bool, _ response: TagCommandResponse, on tag: inout TagMirror,
        at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        var outcome = TagRequestOutcome(response, aboutMotionOf: &tag)
        let (session, file): (StoredMotionSession, FeatureFile)
        do throws(CommandFailure) {
            // Several commands may have waited for the tag.
            if tag.motion.download != nil { throw .isDownloading }
            guard let found = try words.session(in: tag.motion.sessions ?? []) else { throw words.missing }
            // The configuration may have changed since.
            guard let place = tag.features[Motion.self]?.file(of: found) else { throw .hasNoFolder }
            (session, file) = (found, place)
        } catch {
            outcome.failure = error
            tag.motion.used(idle: idle, at: now.instant)
            return outcome
        }
        tag.motion.download = MotionState.Download(session: session, isErased: isErased)
        tag.motion.idleAt = nil
        tag.motion.lastDownload.file = nil
        tag.motion.lastDownload.error = nil
        tag.publishMotion(&effects)
        effects.add(.file(.open, file, of: tag.entry.id))
        return outcome
    }
}

/// The words by which a command names a session on the tag. Those that are absent match any.
struct MotionSessionWords: Sendable {
    private let session: String
    private let others: [(word: String, part: Part)]

    /// Returns one of the texts of a session.
    private typealias Part = @Sendable (MotionSessionID) -> String

    private static let keys: [(key: String, part: Part)] = [
        ("group", { $0.group }), ("campaign", { $0.campaign }), ("product", { $0.product }),
        ("subject", { $0.subject }),
    ]

    init(_ arguments: CommandArguments) throws(CommandFailure) {
        func word(_ key: String, _ allowed: String) throws(CommandFailure) -> String? {
            try arguments.text(key, mayBe: allowed) { (1...128).contains($0.utf8.count) ? $0 : nil }
        }
        let allowed = "the name of a session"
        session = try CommandArguments.required(word("session", allowed), "session", mayBe: allowed)
        var others: [(String, Part)] = []
        for (key, part) in Self.keys {
            if let word = try word(key, "the \(key) of a session") { others.append((word, part)) }
        }
        self.others = others
    }

    /// Returns the session that is meant; nil if there is none.
    ///
    /// - Throws: `invalid_argument` if there are several.
    func session(in sessions: [StoredMotionSession]) throws(CommandFailure) -> StoredMotionSession? {
        let found = sessions.filter { stored in
            ExactText(stored.id.session) == ExactText(session)
                && others.allSatisfy { ExactText($0.part(stored.id)) == ExactText($0.word) }
        }
        guard let first = found.first, found.count > 1 else { return found.first }
        let differing = Self.keys.filter { row in
            found.contains { ExactText(row.part($0.id)) != ExactText(row.part(first.id)) }
        }
        // Sessions with equal words cannot be told apart by the tag either.
        guard !differing.isEmpty else { return first }
        throw CommandFailure(
            .invalidArgument, "The tag has \(found.count) sessions \(session.quoted)",
            hint: "Add \(differing.map(\.key).joined(separator: ", ")); imu/sessions/get lists them")
    }

    /// The failure of a command for a session that the tag does not have.
    var missing: CommandFailure {
        CommandFailure(
            .invalidArgument, "The tag has no session \(session.quoted)", hint: "imu/sessions/get lists them")
    }
}

extension CommandFailure {
    fileprivate static let isDownloading = CommandFailure(
        .busy, "A session is being downloaded", hint: "Send stop to imu/set")
    fileprivate static let hasNoFolder = CommandFailure(
        .notPermitted, "There is no folder for sessions in the configuration", hint: "Set imu.folder, and reload")
}

extension MotionState {
    /// Handles an answer that only an active module gives.
    mutating func foundActive() {
        if module != .active { reported(MotionModuleStatus(module: .active, status: .idle)) }
    }
}

extension TagRequestOutcome {
    /// Applies a response about motion data to its tag, and publishes the state.
    fileprivate init(
        _ response: TagCommandResponse, aboutMotionOf tag: inout TagMirror, _ effects: inout Effects
    ) {
        self.init(response, aboutMotionOf: &tag)
        tag.publishMotion(&effects)
    }

    /// Applies a response about motion data to its tag.
    fileprivate init(_ response: TagCommandResponse, aboutMotionOf tag: inout TagMirror) {
        var withSessions = false
        var failure: CommandFailure?
        switch response {
        case .motionStatus(let status): tag.motion.reported(status)
        case .motionSessions(let sessions, let isComplete):
            tag.motion.listed(sessions, isComplete: isComplete)
            withSessions = true
            tag.motion.foundActive()
            if !isComplete { failure = CommandFailure(.timeout, "The tag has not sent the whole list of sessions") }
        default: break
        }
        let data = CommandData { object in
            object.add("imu", MotionDocument(motion: tag.motion))
            object.add(
                "sessions", withSessions ? (tag.motion.sessions ?? []).map { MotionSessionDocument(stored: $0) } : nil)
        }
        self.init(data: data, failure: failure)
    }
}
