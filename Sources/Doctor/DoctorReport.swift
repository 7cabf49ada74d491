import Bridge
import CommandLine
import JSON
import Terminal
import Text

/// The output of `doctor`.
struct DoctorReport: Hashable, Sendable {
    /// The findings in the order of ``Check``.
    let findings: [Finding]
    /// Completes the command lines in remedies.
    var hint = CommandHint(config: nil, commands: [])

    /// The worst verdict; `ok` if every check was skipped.
    var status: Finding.Verdict { .worst(of: findings) }

    /// `failed` if a check failed.
    var exitCode: ExitCode { status == .failed ? .failed : .done }

    /// `{"status","checks":[{"name","title","verdict","found","remedies"}]}`.
    var document: JSONValue {
        let checks = findings.map { finding in
            [
                "name": .string(finding.check.rawValue), "title": .string(finding.check.title),
                "verdict": .string(finding.verdict.rawValue), "found": .string(finding.found),
                "remedies": .array(remedies(finding).map(JSONValue.string)),
            ] as JSONValue
        }
        return ["status": .string(status.rawValue), "checks": .array(checks)]
    }

    /// A line for each finding, followed by one for each remedy.
    var lines: [String] {
        findings.flatMap { finding in
            let verdict = Self.padded(finding.verdict.rawValue, 9)
            let head = "\(verdict)\(Self.padded(finding.check.title, 16))\(finding.found)"
            return [head] + remedies(finding).map { Self.padded("", 9) + "-> " + $0 }
        }.map(DisplayText.escaped)
    }

    private func remedies(_ finding: Finding) -> [String] {
        finding.remedies.map(hint.completed)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
