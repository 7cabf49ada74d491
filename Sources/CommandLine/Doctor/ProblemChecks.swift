import Bridge
import JSON

/// The problems that a running bridge reports in its health, as findings: what the bridge knows, `doctor` says.
enum ProblemChecks {
    /// Checks with an own reading of the bridge's health.
    private static let read: Set<Check> = [.firmware, .radio]

    /// Returns one finding for each check to which a problem belongs.
    ///
    /// - Parameters:
    ///   - instance: the bridge's name.
    ///   - health: the document of `G/health`; nil if none is retained.
    ///   - own: the findings of this command. A check that has found a fault itself needs no second voice.
    /// - Returns: the findings; codes that this version does not know are warnings about the bridge.
    static func findings(_ instance: String, _ health: JSONValue?, own: [Finding]) -> [Finding] {
        let faults = Set(own.filter { $0.verdict == .failed || $0.verdict == .warning }.map(\.check))
        let problems = (health?["problems"]?.elements ?? []).map { problem in
            let code = problem["code"]?.string.flatMap(Problem.Code.init(rawValue:))
            return (
                check: code?.check ?? .bridge, verdict: code?.verdict ?? .warning,
                text: problem["text"]?.string ?? problem["code"]?.string ?? ""
            )
        }
        return Check.allCases.filter { !faults.contains($0) && !read.contains($0) }.compactMap { check in
            let ours = problems.filter { $0.check == check }
            guard !ours.isEmpty else { return nil }
            let isFailed = ours.contains { $0.verdict == .failed }
            return Finding(
                check, isFailed ? .failed : .warning,
                "the bridge \(instance) reports: \(ours.map(\.text).sorted().joined(separator: "; "))")
        }
    }
}
