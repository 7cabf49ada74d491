/// How the process ends; part of the public interface, the numbers do not change.
public enum ExitCode: Int32, Sendable {
    /// Done.
    case done = 0
    /// Tried and failed.
    case failed = 1
    /// The command line or the configuration is wrong.
    case wrongUsage = 2
    /// Bus or broker cannot be reached, or the bridge is not online.
    case noConnection = 3
}
