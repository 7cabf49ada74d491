import Foundation
import Testing

/// Names of types. A reader who searches for one finds one.
@Suite("Type names")
struct TypeNameTests {
    @Test("occur in one module each, except for private ones")
    func modules() throws {
        var modules: [String: Set<String>] = [:]
        for (module, folder) in try SourceFolders.modules {
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            for file in files ?? [] {
                let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                for name in lines.compactMap(Self.declaredType) { modules[name, default: []].insert(module) }
            }
        }
        #expect(modules.count > 300)
        let ambiguous = modules.filter { $0.value.count > 1 }
        #expect(ambiguous.isEmpty, "\(ambiguous.map { "\($0.key): \($0.value.sorted())" }.sorted())")
    }

    /// Returns the name of the type that a line at the top level of a file declares; nil for private types and all other
    /// lines.
    private static func declaredType(_ line: Substring) -> String? {
        let words = line.prefix { $0 != ":" && $0 != "{" && $0 != "<" }.split(separator: " ")
        guard line.first?.isWhitespace == false,
            let keyword = words.firstIndex(where: {
                ["struct", "class", "enum", "protocol", "actor", "typealias"].contains($0)
            }),
            words.indices.contains(keyword + 1), words[..<keyword].allSatisfy({ modifiers.contains($0) })
        else { return nil }
        return String(words[keyword + 1])
    }

    private static let modifiers: Set<Substring> = [
        "public", "package", "internal", "final", "indirect", "@LoopActor", "@main",
    ]
}
