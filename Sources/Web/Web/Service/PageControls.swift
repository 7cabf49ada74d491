import Bridge
import JSON

/// The controls of the page that features of tags have declared: the page itself names no feature.
enum PageControls {
    /// The commands of features, each with the words of its buttons and those that take a number:
    /// `[{"key":"find","name":"find","number":{"high":300,"key":"for_s","low":5,"unit":"s","words":["start"]},"words":["start","stop"]}]`.
    static let commands: JSONValue = .array(FeatureTable.commandLines.map(control))

    /// The words of all touch modes.
    static let touchModes: JSONValue = .array(TouchModeTable.rows.map { .string($0.word) })

    private static func control(_ line: TagCommandLine) -> JSONValue {
        let words = [line.operand.standard] + line.operand.words.filter { $0 != line.operand.standard }
        return [
            "name": .string(line.name), "key": .string(line.operand.key), "words": .array(words.map(JSONValue.string)),
            "number": [
                "key": .string(line.number.key), "low": .integer(Int64(line.number.range.lowerBound)),
                "high": .integer(Int64(line.number.range.upperBound)), "unit": .string(line.number.unit.symbol),
                "words": .array(line.number.words.map(JSONValue.string)),
            ],
        ]
    }
}
