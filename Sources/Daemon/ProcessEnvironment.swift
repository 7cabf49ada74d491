import CSystemd

/// What the process was started with.
enum ProcessEnvironment {
    /// The variables by name; an entry without `=` is none.
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        // The list ends with a null pointer, and nothing in this program changes it.
        var entry = process_environment()
        while let text = entry?.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry = entry?.advanced(by: 1)
        }
        return variables
    }
}
