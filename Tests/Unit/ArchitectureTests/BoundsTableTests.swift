import Foundation
import Testing

/// The table of bounds in the article "Bounds".
@Suite("The table of bounds")
struct BoundsTableTests {
    private static let top = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The cells of each row.
    private static func rows() throws -> [[String]] {
        let path = "Sources/Programs/Daemon/Documentation.docc/Bounds.md"
        let article = try String(contentsOf: top.appendingPathComponent(path), encoding: .utf8)
        let section = try #require(article.components(separatedBy: "\n## Bounds\n").last)
        let lines = section.components(separatedBy: "\n## ")[0].split(separator: "\n")
        return lines.filter { $0.hasPrefix("| ") }.dropFirst()
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    @Test("names a test for each bound, and the test exists")
    func tests() throws {
        let rows = try Self.rows()
        #expect(rows.count >= 20)
        for row in rows {
            #expect(row.count == 4, "\(row)")
            let name = try #require(row.last).trimmingCharacters(in: ["`"])
            let match = try #require(name.wholeMatch(of: #/(\w+)\.(\w+)/(\w+)/#), "\(name)")
            #expect(try Self.exists(String(match.3), in: String(match.2), of: String(match.1)), "\(name)")
        }
    }

    /// Whether a target has a suite with a function of these names.
    private static func exists(_ function: String, in suite: String, of target: String) throws -> Bool {
        let folder = top.appendingPathComponent(target == "EndToEndTests" ? "Tests/EndToEnd" : "Tests/Unit/" + target)
        let files =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
        return try files.contains { file in
            let text = try String(contentsOf: file, encoding: .utf8)
            let parts = text.components(separatedBy: "\nstruct ").dropFirst()
            return parts.contains { $0.hasPrefix(suite + " ") && $0.contains("func \(function)(") }
        }
    }
}
