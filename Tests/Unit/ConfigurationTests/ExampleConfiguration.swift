import FoundationEssentials

/// The example of `config/`, as it is delivered.
enum ExampleConfiguration {
    /// Where it is in this source tree.
    static let path =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        + "/config/jacquard2mqtt.yaml"

    /// Its text.
    static func text() throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
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
