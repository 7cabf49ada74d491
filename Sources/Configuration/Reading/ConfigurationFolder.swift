/// Where relative paths of the configuration count from.
struct ConfigurationFolder: Hashable, Sendable {
    /// The folder of the configuration file, ending in a slash; empty for the working directory.
    let prefix: String

    /// The folder of this file, by its name alone.
    init(of file: String) {
        prefix = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
    }

    /// The path as the process can open it.
    func resolve(_ path: String) -> String {
        path.hasPrefix("/") ? path : prefix + path
    }
}
