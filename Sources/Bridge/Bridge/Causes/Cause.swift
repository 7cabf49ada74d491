/// Why something does not work, and what to do about it.
///
/// Each part that reports a fault derives its words from the cause: the problem in `G/health`, the findings of `doctor` and
/// `request/doctor`, the hints in `T/connection` and in results, `why`, `status`, and the log. The article Faults lists the causes.
public struct Cause: Hashable, Sendable {
    /// The code of the problem in `G/health`.
    public let code: Problem.Code
    /// The check of `doctor` and `request/doctor` that reports it.
    public let check: Check
    /// One clause without a full stop.
    public let text: String
    /// The effect, such as `No tag can be reached`; nil if the text says it.
    public let effect: String?
    /// The remedies, the most likely one first: commands to copy, or sentences without a full stop.
    public let remedies: [String]

    /// Creates a cause.
    public init(_ code: Problem.Code, _ check: Check, _ text: String, effect: String? = nil, remedies: [String]) {
        self.code = code
        self.check = check
        self.text = text
        self.effect = effect
        self.remedies = remedies
    }

    /// The hint in `T/connection` and in results: the first remedy.
    public var hint: String { remedies.first ?? "" }
}

extension Finding {
    /// Reports a cause.
    public init(_ cause: Cause, _ verdict: Verdict = .failed) {
        self.init(cause.check, verdict, cause.text, remedies: cause.remedies)
    }
}

extension Problem {
    /// Reports a cause; `subject` is the adapter, tag or serial, empty for the bridge itself.
    init(_ cause: Cause, about subject: String = "") {
        let text = [cause.effect, cause.text].compactMap(\.self).joined(separator: ": ")
        self.init(cause.code, about: subject, ([text] + cause.remedies.prefix(1)).joined(separator: ". "))
    }
}
