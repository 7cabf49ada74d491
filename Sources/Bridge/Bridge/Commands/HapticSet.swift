import JacquardProtocol

/// `haptic/set`: `short`, `long`, `stop`, or an object with `pattern`, `on_ms`, `off_ms`, `amplitude`, `repeat`.
struct HapticSet: TagRequest {
    static let name = "haptic/set"
    static var needsPayload: Bool { true }
    static var access: CommandAccess { .automation }
    static var isResultRecorded: Bool { true }
    static let keys = ["pattern", "on_ms", "off_ms", "amplitude", "repeat"]

    let pattern: HapticPattern

    var command: TagCommand? { .playHaptic(pattern) }

    /// The values of `pattern` with their default timing. `short` and `long` are additions of the bridge.
    private static let patterns = [
        Word("short", plain(.constantOn)),
        Word("long", plain(.constantOn, onMilliseconds: 1_000)),
        Word("stop", .stop),
        Word("sine_increase", plain(.sineIncrease)),
        Word("sine_decrease", plain(.sineDecrease)),
        Word("linear_increase", plain(.linearIncrease)),
        Word("linear_decrease", plain(.linearDecrease)),
        Word("parabolic_increase", plain(.parabolicIncrease)),
        Word("parabolic_decrease", plain(.parabolicDecrease)),
        Word("constant_on", plain(.constantOn)),
    ]

    /// The protocol's name for `stop`.
    private static let synonyms = [Word("halted", HapticPattern.stop)]

    private static func plain(_ symbol: HapticPattern.Symbol, onMilliseconds: UInt16 = 200) -> HapticPattern {
        HapticPattern(
            symbol: symbol, onMilliseconds: onMilliseconds, offMilliseconds: 0, maxAmplitudePercent: 100,
            repeatNMinusOne: 0)
    }

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let word = try payload.word("pattern", of: Self.patterns, synonyms: Self.synonyms)
        let arguments = try CommandArguments(payload, word: "pattern")
        var pattern = try CommandArguments.required(word, "pattern", mayBe: Self.patterns.listed())
        let onMilliseconds = try arguments.integer("on_ms", 0...UInt16.max)
        let offMilliseconds = try arguments.integer("off_ms", 0...UInt16.max)
        let amplitude = try arguments.integer("amplitude", 0...100 as ClosedRange<UInt8>)
        let plays = try arguments.integer("repeat", 1...256 as ClosedRange<UInt16>)
        if pattern.symbol != .halted {
            pattern.onMilliseconds = onMilliseconds ?? pattern.onMilliseconds
            pattern.offMilliseconds = offMilliseconds ?? pattern.offMilliseconds
            pattern.maxAmplitudePercent = amplitude ?? pattern.maxAmplitudePercent
            pattern.repeatNMinusOne = plays.map { UInt8(truncatingIfNeeded: $0 - 1) } ?? pattern.repeatNMinusOne
        }
        self.pattern = pattern
    }
}
