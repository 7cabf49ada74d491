/// The path of the folder with the known tags.
public enum StatePath {
    /// The folder of an installed bridge.
    public static let standard = "/var/lib/jacquard2mqtt"

    /// Returns the folder of `--state`, else the service manager's, else ``standard``.
    ///
    /// - Parameters:
    ///   - option: the value of `--state`; nil: not given.
    ///   - environment: all variables of the process.
    /// - Returns: the path.
    public static func path(option: String?, environment: [String: String]) -> String {
        // systemd separates several folders with colons; the bridge uses the first.
        let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        return option ?? given ?? standard
    }
}
