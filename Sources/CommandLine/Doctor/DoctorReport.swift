import Bridge
import BrokerAccess
import CommandLine
import JSON
import Terminal

/// The output of `doctor`.
struct DoctorReport: Equatable, Sendable {
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
            Finding(
                finding.check, finding.verdict, finding.found, remedies: finding.remedies.map(hint.completed)
            ).document
        }
        return ["status": .string(status.rawValue), "checks": .array(checks)]
    }

    /// A line for each finding, followed by one for each remedy.
    var lines: [String] { findings.flatMap { $0.lines(completed: hint.completed) } }
}
