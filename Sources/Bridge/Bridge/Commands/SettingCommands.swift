import JSON
import JacquardProtocol
import Time

/// `connection/set`: `connect` or `disconnect`. A disconnect lasts until `connect`. The result is published when the
/// tag has reached the state.
struct ConnectionSet: TagRequest {
    static let name = "connection/set"
    static var needsPayload: Bool { true }
    static var isResultRecorded: Bool { true }
    static let keys = ["connection"]
    static let ignoresHold = true

    let goal: TagGoal
    let command: TagCommand? = nil

    private static let words = [Word("connect", TagGoal.connected), Word("disconnect", .disconnected)]

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let word = try payload.word("connection", of: Self.words)
        goal = try CommandArguments.required(word, "connection", mayBe: Self.words.listed())
        if goal == .connected, context.entry.connect == .never { throw context.entry.switchedOffFailure }
    }

    func accepted(by tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects) {
        switch goal {
        case .connected: tag.link.release()
        case .disconnected: tag.link.hold()
        }
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        TagRequestOutcome(data: CommandData(["state": tag.link.connection.state.word]))
    }
}

/// `name/set`: sets the tag's own name, given as text or in `name`. It may contain spaces.
struct NameSet: TagRequest {
    static let name = "name/set"
    static var needsPayload: Bool { true }
    static let keys = ["name"]

    private let newName: String

    var command: TagCommand? { .rename(newName) }

    private static let allowed = "1 to 21 bytes of UTF-8 without control characters, not only spaces"

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let arguments = try CommandArguments(payload) { text in ["name": .string(text)] }
        let name = try arguments.text("name", bytes: BLEConfiguration.nameByteCounts, mayBe: Self.allowed) { name in
            name.contains { !$0.isWhitespace }
        }
        newName = try CommandArguments.required(name, "name", mayBe: Self.allowed)
        guard newName != context.name else {
            throw .invalid("name", is: .string(newName), mayBe: "\(Self.allowed), and not the name that it has")
        }
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        tag.nameConfirmed()
        tag.sighted(TagSighting(name: newName), at: now, &effects)
        return TagRequestOutcome()
    }

    func failed(on tag: inout TagMirror, _ failure: CommandFailure?, at now: Timestamp) {
        if failure?.leavesEffectUnknown == true { tag.unconfirmed.nameUnknown(at: now.instant) }
    }
}

/// `touch_mode/set`: a word of ``TouchModeTable/rows``, or an object with `touch_mode`.
struct TouchModeSet: TagRequest {
    static let name = "touch_mode/set"
    static var needsPayload: Bool { true }
    static var access: CommandAccess { .automation }
    static var isResultRecorded: Bool { true }
    static let keys = ["touch_mode"]

    private let row: TouchModeRow
    /// The settings when the command arrived.
    private let options: BridgeOptions

    var command: TagCommand? { .setTouchMode(row.mode) }

    /// The word of the touch mode.
    var word: String { row.word }

    private static let words = TouchModeTable.rows.map { Word($0.word, $0) }

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        options = context.options
        let allowed = Self.words.filter { [options] in $0.meaning.refusal(options) == nil }
        let choice = try payload.word("touch_mode", of: allowed, synonyms: Self.words)
        row = try CommandArguments.required(choice, "touch_mode", mayBe: allowed.listed())
        if let refusal = row.refusal(options) { throw refusal }
    }

    func accepted(by tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects) {
        tag.tell(.touchModeRequested(row.word, options), at: now, &effects)
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        tag.touchModeReported(row.mode, at: now, &effects)
        return TagRequestOutcome(data: row.data(options))
    }
}

/// `sleep/set`: makes the tag disconnect after `timeout_s`. With `wake_on_motion` it returns only after it is moved,
/// otherwise it is left alone until it sleeps, and returns after it is touched.
struct SleepSet: TagRequest {
    static let name = "sleep/set"
    static var isResultRecorded: Bool { true }
    static let keys = ["timeout_s", "wake_on_motion"]

    private let timeoutSeconds: UInt32
    private let wakesOnMotion: Bool

    /// 0 s (immediately) to one day.
    private static let timeouts: ClosedRange<UInt32> = 0...86_400

    var command: TagCommand? {
        .disconnectTag(timeoutSeconds: timeoutSeconds, reconnectOnlyOnWakeOnMotion: wakesOnMotion)
    }

    var endsLink: Bool { timeoutSeconds == 0 }

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let arguments = try CommandArguments(emptyOrObject: payload, with: "timeout_s, wake_on_motion")
        timeoutSeconds = try arguments.integer("timeout_s", Self.timeouts) ?? 0
        wakesOnMotion = try arguments.flag("wake_on_motion") ?? false
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        // A tag that waits for motion does not advertise before.
        tag.link.sleeps(within: .seconds(timeoutSeconds), isLeftAlone: !wakesOnMotion, at: now.instant)
        let isPresenceChanged = tag.presenceChanged(.sleepRequested(within: .seconds(timeoutSeconds)), at: now)
        if isPresenceChanged { effects.publish(tag.presenceFacts) }
        return TagRequestOutcome()
    }
}
