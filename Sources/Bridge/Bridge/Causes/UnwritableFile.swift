/// A file of the bridge that cannot be written.
public struct UnwritableFile: Hashable, Sendable {
    /// The purpose of a file.
    public enum Purpose: Hashable, Sendable, CaseIterable {
        /// The known tags.
        case state
        /// The metrics.
        case metrics
    }

    /// The purpose of the file.
    public let purpose: Purpose
    /// The path of the file or its folder.
    public let path: String
    /// Why it cannot be written, such as `No space left on device`.
    public let reason: String

    /// Creates the description of a failure.
    public init(_ purpose: Purpose, _ path: String, reason: String) {
        self.purpose = purpose
        self.path = path
        self.reason = reason
    }
}
