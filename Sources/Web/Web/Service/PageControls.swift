import Bridge
import JSON

/// The controls of the page that features of tags have declared: the page itself names no feature.
enum PageControls {
    /// The commands of features: `[{"key":"find","name":"find","seconds":{"high":300,"key":"for_s","low":5},"words":["start","stop"]}]`.
    /// The first word is the one that takes the seconds.
    static let commands: JSONValue = .array(FeatureTable.commandLines.map(control))

    /// The words of all touch modes.
    static let touchModes: JSONValue = .array(TouchModeTable.rows.map { .string($0.word) })

    private static func control(_ line: TagCommandLine) -> JSONValue {
        let words = [line.operand.standard] + line.operand.words.filter { $0 != line.operand.standard }
        return [
            "name": .string(line.name), "key": .string(line.operand.key), "words": .array(words.map(JSONValue.string)),
            "seconds": [
                "key": .string(line.seconds.key), "low": .integer(Int64(line.seconds.range.lowerBound)),
                "high": .integer(Int64(line.seconds.range.upperBound)),
            ],
        ]
    }
}
