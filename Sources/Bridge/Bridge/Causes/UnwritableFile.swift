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

    /// Whether it is a file of another release, which is not overwritten.
    public let isOfOtherRelease: Bool

    /// What the user can do.
    var remedy: String {
        isOfOtherRelease
            ? "install the release that wrote the file, or move it away: this one then knows the tags of its configuration"
            : "make room on the disk, and let the bridge's user write these files"
    }

    /// Creates the description of a failure.
    public init(_ purpose: Purpose, _ path: String, reason: String, isOfOtherRelease: Bool = false) {
        self.purpose = purpose
        self.path = path
        self.reason = reason
        self.isOfOtherRelease = isOfOtherRelease
    }
}
