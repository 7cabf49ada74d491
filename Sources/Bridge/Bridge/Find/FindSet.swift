import JacquardProtocol
import Time

/// `find/set`: lets a tag blink and vibrate, `start` for `for_s` or until `stop`.
struct FindSet: TagRequest {
    static let name = "find/set"
    static var needsPayload: Bool { true }
    static var access: CommandAccess { .automation }
    static var isResultRecorded: Bool { true }
    static let keys = ["find", "for_s"]

    /// How long; nil to stop.
    private let duration: Duration?

    /// The range of `for_s`.
    static let seconds: ClosedRange<UInt32> = 5...300
    static let standardSeconds: UInt32 = 60
    private static let words: [Word<Bool>] = .startAndStop

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let word = try payload.word("find", of: Self.words)
        let seconds = try CommandArguments(payload, word: "find").integer("for_s", Self.seconds)
        let starts = try CommandArguments.required(word, "find", mayBe: Self.words.listed())
        duration = starts ? .seconds(Int64(seconds ?? Self.standardSeconds)) : nil
    }

    var isImmediate: Bool { duration == nil }

    /// The first blinking of the tag: its response is the result.
    var command: TagCommand? {
        duration.map { .playLEDPattern(.finding(for: min($0, LEDState.longestBlinking)), on: .tag) }
    }

    func failed(on tag: inout TagMirror, _ failure: CommandFailure?, at now: Timestamp) {
        guard let duration, failure?.leavesEffectUnknown == true else { return }
        // The search has not begun: the LED is switched off.
        tag.lightUnknown((.blinking, .finding(for: min(duration, LEDState.longestBlinking))), at: now)
        tag.lightUnknown(nil, at: now)
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        guard let duration else { return TagRequestOutcome(order: FindOrder.stop, cancels: Self.self) }
        return TagRequestOutcome(order: FindOrder.start(duration))
    }
}

/// The order of a successful `find/set` to ``Find``.
enum FindOrder: Sendable {
    case start(Duration)
    case stop
}

extension LEDPattern {
    /// White at full brightness, twice a second.
    static func finding(for duration: Duration) -> LEDPattern {
        LEDPattern(
            kind: .custom,
            frames: [
                Frame(color: .white, lengthMilliseconds: 250), Frame(color: .black, lengthMilliseconds: 250),
            ], durationMilliseconds: UInt32(clamping: duration.milliseconds), playType: .play, isResumable: false)
    }
}

extension HapticPattern {
    /// Strong vibration, once a second.
    static func finding(for duration: Duration) -> HapticPattern {
        let plays = max(1, min(256, duration.milliseconds / 1_000))
        return HapticPattern(
            symbol: .constantOn, onMilliseconds: 400, offMilliseconds: 600, maxAmplitudePercent: 100,
            repeatNMinusOne: UInt8(plays - 1))
    }
}
