import Foundation

/// Counts only the time in which no process of the machine waits for a processor, so that a busy machine decides no test.
public struct Stopwatch: Sendable {
    private let begin = ContinuousClock.now
    private let before = Self.stalled

    /// Starts it.
    public init() {}

    /// Whether at most a time has passed. Something that never ends takes ten times as long at most.
    public func isWithin(_ limit: Duration) -> Bool {
        let passed = begin.duration(to: .now)
        return passed < limit || (passed < limit * 10 && passed - (Self.stalled - before) < limit)
    }

    /// For how long processes have waited; zero on a kernel that does not count it.
    ///
    /// Source: docs.kernel.org/accounting/psi.html.
    private static var stalled: Duration {
        guard let text = try? String(contentsOfFile: "/proc/pressure/cpu", encoding: .utf8),
            let total = text.split(separator: "\n").first?.split(separator: "=").last, let time = Int(total)
        else { return .zero }
        return .microseconds(time)
    }
}
