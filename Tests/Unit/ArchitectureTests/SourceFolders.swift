import Foundation

/// The folders of the modules.
enum SourceFolders {
    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    /// The folder of each module, by its name: `Sources/<family>/<module>`.
    static var modules: [String: URL] {
        get throws {
            let families = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
            let folders = try families.flatMap {
                try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
            }
            return Dictionary(uniqueKeysWithValues: folders.map { ($0.lastPathComponent, $0) })
        }
    }
}
