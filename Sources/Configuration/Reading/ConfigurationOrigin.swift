/// Where a part of the configuration was written.
enum ConfigurationOrigin: Hashable, Sendable {
    /// The file as a whole.
    case file
    /// A place in the file.
    case position(YAMLPosition)
    /// The environment variable of this name.
    case variable(String)
}

extension ConfigurationOrigin: Comparable {
    /// The file from top to bottom, then the environment by name.
    static func < (left: ConfigurationOrigin, right: ConfigurationOrigin) -> Bool {
        switch (left, right) {
        case (.position(let left), .position(let right)): left < right
        case (.variable(let left), .variable(let right)): left < right
        default: left.rank < right.rank
        }
    }

    private var rank: Int {
        switch self {
        case .file: 0
        case .position: 1
        case .variable: 2
        }
    }
}
