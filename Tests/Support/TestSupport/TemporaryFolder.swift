import FoundationEssentials

/// A folder of a test's own that goes with it.
public final class TemporaryFolder: Sendable {
    /// Absolute, without a slash at its end.
    public let path: String

    /// Makes an empty folder.
    public init() throws {
        path = "/tmp/jacquard2mqtt-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the folder, whether or not it is there.
    public func path(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Writes a file, with the permissions of an ordinary secret.
    public func write(_ text: String, to name: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
    }
}
