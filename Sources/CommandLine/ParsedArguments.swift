import Configuration
import Text

/// Reads values by the rules of the configuration's keys.
extension CommandArguments {
    /// The value of an option; nil if the option was not given.
    func value<Value>(of option: OptionDescription, _ rule: ScalarRule<Value>) throws(UsageError) -> Value? {
        guard let text = options[option.name] else { return nil }
        return try Self.parse(text, option.name, rule)
    }

    /// The word at a position that the parser has found to be there.
    func operand<Value>(_ position: Int, _ name: String, _ rule: ScalarRule<Value>) throws(UsageError) -> Value {
        guard let value = try optionalOperand(position, name, rule) else {
            throw UsageError(message: "\(name) is missing")
        }
        return value
    }

    /// The word at a position; nil if there is none.
    func optionalOperand<Value>(
        _ position: Int, _ name: String, _ rule: ScalarRule<Value>
    ) throws(UsageError) -> Value? {
        guard operands.indices.contains(position) else { return nil }
        return try Self.parse(operands[position], name, rule)
    }

    private static func parse<Value>(
        _ text: String, _ name: String, _ rule: ScalarRule<Value>
    ) throws(UsageError) -> Value {
        do throws(Rejection) {
            return try rule.parse(text)
        } catch {
            throw UsageError(message: "\(name): \(rule.problem(with: text, error)); allowed: \(rule.allowed)")
        }
    }
}
