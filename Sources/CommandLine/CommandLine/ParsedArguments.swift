public import Text

/// The options and words after a command.
public struct ParsedArguments: Hashable, Sendable {
    /// Values by the option's name; empty text for an option that takes no value.
    public internal(set) var options: [String: String] = [:]
    /// The other words, in their order.
    public internal(set) var operands: [String] = []
}

/// Reads values by the rules of the configuration's keys.
extension ParsedArguments {
    /// The value of an option; nil if the option was not given.
    public func value<Value>(of option: OptionDescription, _ rule: ScalarRule<Value>) throws(CommandLineError) -> Value?
    {
        guard let text = options[option.name] else { return nil }
        return try Self.parse(text, option.name, rule)
    }

    /// The word at a position that the parser has found to be there.
    public func operand<Value>(_ position: Int, _ name: String, _ rule: ScalarRule<Value>) throws(CommandLineError)
        -> Value
    {
        guard let value = try optionalOperand(position, name, rule) else {
            throw CommandLineError(message: "\(name) is missing")
        }
        return value
    }

    /// The word at a position; nil if there is none.
    public func optionalOperand<Value>(
        _ position: Int, _ name: String, _ rule: ScalarRule<Value>
    ) throws(CommandLineError) -> Value? {
        guard operands.indices.contains(position) else { return nil }
        return try Self.parse(operands[position], name, rule)
    }

    private static func parse<Value>(
        _ text: String, _ name: String, _ rule: ScalarRule<Value>
    ) throws(CommandLineError) -> Value {
        do throws(Rejection) {
            return try rule.parse(text)
        } catch {
            throw CommandLineError(message: "\(name): \(rule.problem(with: text, error)); allowed: \(rule.allowed)")
        }
    }
}
