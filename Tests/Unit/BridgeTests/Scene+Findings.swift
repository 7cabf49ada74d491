import Testing

@testable import Bridge

/// The findings of `request/doctor` beside the problems of the health.
extension Scene {
    /// The checks that the bridge itself makes: the others are the driver's, or those of one tag.
    private static let ownChecks: Set<Check> = [
        .radio, .firmware, .discovery, .duplicateSerials, .homeAssistant, .broker, .bridge,
    ]

    /// Expects a finding for each current problem when the problems have changed.
    func expectFindings() {
        let problems = Set(state.diagnostics.health.current.map(\.key))
        guard problems != examined else { return }
        examined = problems
        let findings = BridgeFindings(of: state, at: now).all(with: HostReport(findings: []), tag: nil)
        for code in Set(problems.map(\.code)) where Self.ownChecks.contains(code.check) {
            let verdict = findings.first { $0.check == code.check && $0.verdict != .ok }?.verdict
            #expect(verdict == code.verdict || verdict == .failed, "\(code) is not told by doctor")
        }
    }
}
