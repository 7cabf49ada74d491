/// What one value of the configuration may be, and what it becomes.
struct ScalarRule<Value> {
    /// Completes "allowed: ...".
    let allowed: String
    /// Whether a refused value is quoted in the message; false for what is or may hold a secret.
    var showsValue = true
    /// The value's meaning, or why it has none.
    let parse: (String) throws(Rejection) -> Value

    /// The same rule for a value in another form.
    func map<Result>(_ transform: @escaping (Value) throws(Rejection) -> Result) -> ScalarRule<Result> {
        ScalarRule<Result>(allowed: allowed, showsValue: showsValue) { text throws(Rejection) in
            try transform(try parse(text))
        }
    }

    /// The same rule for a value that no message may hold.
    func hidden() -> ScalarRule {
        ScalarRule(allowed: allowed, showsValue: false, parse: parse)
    }

    /// The sentence for a value that was refused.
    func problem(with text: String, _ rejection: Rejection) -> String {
        "\(showsValue ? DisplayText.quoted(text) : "the value") \(rejection.reason)"
    }
}
