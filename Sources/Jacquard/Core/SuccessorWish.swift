import JacquardProtocol

/// How a tag is to be connected as soon as its address is free.
struct SuccessorWish {
    /// Which errors are final.
    private(set) var rule: TagSession.RetryRule
    /// Whether to make a bond.
    private(set) var bonding = false

    init(rule: TagSession.RetryRule) {
        self.rule = rule
    }

    /// It is wished again: the more lasting rule stays, as in ``JacquardProtocol/TagSession``.
    mutating func join(_ rule: TagSession.RetryRule, bonding: Bool) {
        if rule == .always { self.rule = .always }
        self.bonding = self.bonding || bonding
    }
}
