/// What a check has found.
struct Finding: Hashable, Sendable {
    /// How it is, from well to bad.
    enum Verdict: String, CaseIterable, Sendable {
        /// Could not be looked at, because an earlier check has failed, or need not.
        case skipped
        /// Well.
        case ok
        /// Works, or may work, and should be known.
        case warning
        /// Keeps the bridge from working.
        case failed
    }

    /// What was looked at.
    let check: Check
    /// How it is.
    let verdict: Verdict
    /// What was found, in one sentence without a full stop.
    let found: String
    /// What to do about it: commands to copy where there are such, else a sentence.
    let remedies: [String]

    /// Describes a finding.
    init(_ check: Check, _ verdict: Verdict, _ found: String, remedies: [String] = []) {
        self.check = check
        self.verdict = verdict
        self.found = found
        self.remedies = remedies
    }
}
