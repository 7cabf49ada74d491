/// Finds keys of the configuration by their names in the dotted form that messages and environment variables use.
enum ConfigurationPath {
    /// The dotted form of the first key or section of that name, in the order of the documentation.
    ///
    /// - Parameter name: such as `host`.
    /// - Returns: such as `mqtt.host`, with 0 for the number of a list's item; nil if there is no such key.
    static func path(toKey name: String) -> String? {
        for path in Configuration.Key.paths {
            let parts = path.split(separator: ".")
            guard let index = parts.firstIndex(where: { $0 == name }) else { continue }
            return parts[...index].map { $0 == "N" ? "0" : $0 }.joined(separator: ".")
        }
        return nil
    }
}
