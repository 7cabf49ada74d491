import FoundationEssentials

/// The example of `config/`, as it is delivered.
enum ExampleConfiguration {
    private static let root =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")

    /// Its path in this source tree.
    static let path = "\(root)/config/jacquard2mqtt.yaml"

    /// Its text.
    static func text() throws -> String { try file("config/jacquard2mqtt.yaml") }

    /// The text of a file of this source tree.
    static func file(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(root)/\(path)")), as: UTF8.self)
    }

    /// Its text with each "#" removed that stands before a key.
    static func uncommented() throws -> String {
        let lines = try text().split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indentation = line.prefix { $0 == " " }
            let rest = line.dropFirst(indentation.count)
            return rest.hasPrefix("#") && !rest.hasPrefix("# ") && rest != "#" ? indentation + rest.dropFirst() : line
        }
        return lines.joined(separator: "\n")
    }
}
