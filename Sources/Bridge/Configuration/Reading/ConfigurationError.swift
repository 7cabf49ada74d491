public import JSON
import Text

/// One thing that is wrong with the configuration.
struct ConfigurationError: Hashable, Sendable {
    /// The place of the error.
    let origin: ConfigurationOrigin
    /// The key in dotted form; empty where it is about no single key.
    let path: String
    /// The error; never with the value of a secret.
    let problem: String
    /// The allowed values; nil if `problem` names them.
    let allowed: String?

    /// One line: `FILE:LINE:COLUMN: KEY.PATH: what is wrong; allowed: ...`.
    ///
    /// A value of the environment has the variable's name in the place of file, line and column.
    func line(in file: String) -> String {
        let file = DisplayText.escaped(file)
        let place =
            switch origin {
            case .file: file
            case .position(let position): "\(file):\(position.line):\(position.column)"
            case .variable(let name): DisplayText.escaped(name)
            }
        let key = path.isEmpty ? "" : "\(path): "
        let remedy = allowed.map { "; allowed: \($0)" } ?? ""
        return "\(place): \(key)\(problem)\(remedy)"
    }
}

/// Everything that is wrong with the configuration, at least one thing.
public struct ConfigurationErrors: Error, Hashable, CustomStringConvertible {
    /// The file that was read, as the user named it.
    public let file: String
    /// In the order of the file, then of the environment.
    let errors: [ConfigurationError]
    /// How many more there are.
    let omitted: Int

    /// One line for each error, without newlines.
    public var lines: [String] {
        errors.map { $0.line(in: file) } + (omitted > 0 ? ["\(DisplayText.escaped(file)): and \(omitted) more"] : [])
    }

    /// The lines, joined.
    public var description: String { lines.joined(separator: "\n") }
}

extension ConfigurationErrors {
    /// For machines: `{"file","status","errors","notices","omitted"}`.
    public var document: JSONValue {
        [
            "file": .string(file), "status": "error", "notices": [],
            "errors": .array(errors.map(JSONValue.init)), "omitted": .integer(Int64(omitted)),
        ]
    }
}

extension JSONValue {
    /// One error: `line` and `column` where it stands in the file, `variable` where it comes from the environment.
    fileprivate init(_ error: ConfigurationError) {
        var object: [String: JSONValue] = [
            "key": .string(error.path), "text": .string(error.problem),
            "allowed": error.allowed.map(JSONValue.string) ?? .null,
            "line": .null, "column": .null, "variable": .null,
        ]
        switch error.origin {
        case .file: break
        case .position(let position):
            object["line"] = .integer(Int64(position.line))
            object["column"] = .integer(Int64(position.column))
        case .variable(let name): object["variable"] = .string(name)
        }
        self = .object(object)
    }
}

/// The place of a part of the configuration.
enum ConfigurationOrigin: Hashable, Sendable {
    /// The file as a whole.
    case file
    /// A place in the file.
    case position(YAMLPosition)
    /// The environment variable of this name.
    case variable(String)

    /// Whether it is a variable of the environment.
    var isVariable: Bool { if case .variable = self { true } else { false } }
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

/// Collects what is wrong while the configuration is read, so that all of it is reported and not only the first.
struct ConfigurationFindings {
    /// A file of a megabyte can hold more errors than anyone reads.
    static let limit = 100

    private var errors: [ConfigurationError] = []
    private var omitted = 0
    private var isFull: Bool { errors.count >= Self.limit }

    /// Notes an error.
    ///
    /// - Parameters:
    ///   - problem: what is wrong; a value in it has passed `DisplayText`.
    ///   - path: the key in dotted form; empty: no single key.
    ///   - origin: where.
    ///   - allowed: what would be right; nil: the problem says it.
    mutating func add(_ problem: String, path: String = "", at origin: ConfigurationOrigin, allowed: String? = nil) {
        guard !isFull else {
            omitted += 1
            return
        }
        errors.append(ConfigurationError(origin: origin, path: path, problem: problem, allowed: allowed))
    }

    /// Notes a key that does not exist.
    ///
    /// - Parameters:
    ///   - entry: the key.
    ///   - path: the section.
    ///   - allowed: the keys of the section.
    ///   - hint: returns a suggestion for the name of the key.
    mutating func addUnknown(
        _ entry: ConfigurationNode.Entry, at path: String, allowed: [String], hint: (String) -> String
    ) {
        guard !entry.isReported else { return }
        // A suggestion compares the key with all others, which takes seconds for a file of thousands.
        let hint = !isFull && DisplayText.isKey(entry.key) ? hint(entry.key) : ""
        let problem =
            entry.key == "<<"
            ? "keys of another section cannot be merged; write them here" : "unknown key\(hint)"
        add(
            problem, path: path.isEmpty ? DisplayText.escaped(entry.key) : DisplayText.path(path, entry.key),
            at: entry.origin,
            allowed: allowed.joined(separator: ", "))
    }

    /// The number of errors.
    var count: Int { errors.count + omitted }

    /// Whether nothing is wrong.
    var isEmpty: Bool { errors.isEmpty }

    /// The noted errors, in reading order.
    func errors(in file: String) -> ConfigurationErrors {
        ConfigurationErrors(file: file, errors: errors.sorted { $0.origin < $1.origin }, omitted: omitted)
    }
}
