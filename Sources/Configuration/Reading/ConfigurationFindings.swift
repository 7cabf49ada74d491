/// Collects what is wrong while the configuration is read, so that all of it is reported and not only the first.
struct ConfigurationFindings {
    /// A file of a megabyte can hold more errors than anyone reads.
    static let limit = 100

    private var errors: [ConfigurationError] = []
    private var omitted = 0

    /// Notes an error.
    ///
    /// - Parameters:
    ///   - problem: what is wrong; a value in it has passed `DisplayText`.
    ///   - path: the key in dotted form; empty: no single key.
    ///   - origin: where.
    ///   - allowed: what would be right; nil: the problem says it.
    mutating func add(_ problem: String, path: String = "", at origin: ConfigurationOrigin, allowed: String? = nil) {
        guard errors.count < Self.limit else {
            omitted += 1
            return
        }
        errors.append(ConfigurationError(origin: origin, path: path, problem: problem, allowed: allowed))
    }

    /// Whether nothing is wrong.
    var isEmpty: Bool { errors.isEmpty }

    /// What was noted, in reading order.
    func errors(in file: String) -> ConfigurationErrors {
        ConfigurationErrors(file: file, errors: errors.sorted { $0.origin < $1.origin }, omitted: omitted)
    }
}
