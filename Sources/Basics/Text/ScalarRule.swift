/// The allowed forms of one value of the configuration, and its conversion.
public struct ScalarRule<Value> {
    /// Completes "allowed: ...".
    public let allowed: String
    /// Whether a refused value is quoted in the message; false for what is or may hold a secret.
    let showsValue: Bool
    /// The value's meaning, or why it has none.
    public let parse: (String) throws(Rejection) -> Value

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - allowed: completes "allowed: ...".
    ///   - showsValue: whether a refused value is quoted in the message.
    ///   - parse: returns the value's meaning, or throws why it has none.
    public init(
        allowed: String, showsValue: Bool = true, parse: @escaping (String) throws(Rejection) -> Value
    ) {
        self.allowed = allowed
        self.showsValue = showsValue
        self.parse = parse
    }

    /// The same rule for a value in another form.
    public func map<Result>(_ transform: @escaping (Value) throws(Rejection) -> Result) -> ScalarRule<Result> {
        ScalarRule<Result>(allowed: allowed, showsValue: showsValue) { text throws(Rejection) in
            try transform(try parse(text))
        }
    }

    /// The same rule for a text with spaces at its ends.
    public var trimmed: ScalarRule {
        ScalarRule(allowed: allowed, showsValue: showsValue) { text throws(Rejection) in
            try parse(ASCII.trimmed(text[...]))
        }
    }

    /// The same rule for a value that no message may hold.
    public func hidden() -> ScalarRule {
        ScalarRule(allowed: allowed, showsValue: false, parse: parse)
    }

    /// The sentence for a value that was refused.
    public func problem(with text: String, _ rejection: Rejection) -> String {
        "\(showsValue ? DisplayText.quoted(text) : "the value") \(rejection.reason)"
    }
}

/// Why a value is refused; reads on after the value: `is not a number`.
public struct Rejection: Error, Hashable {
    /// The predicate of the sentence; never holds the value.
    public let reason: String

    /// States the reason.
    public init(_ reason: String) {
        self.reason = reason
    }
}
