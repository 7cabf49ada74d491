import FoundationEssentials
public import Testing

/// A file of the repository that is generated from code.
public enum GeneratedFile {
    /// What to do if a file is not as it is generated.
    public static let remedy: Comment =
        "UPDATE_GENERATED=1 swift test --filter 'AccessListTests|GeneratedFilesTests|ManualTests|RecordedDiscoveryTests' writes it"

    private static let top = URL(filePath: #filePath).appending(path: "../../../..").standardized

    /// Returns the text of a file. Writes the generated text to it first if `UPDATE_GENERATED` is set.
    ///
    /// - Parameters:
    ///   - path: relative to the top of the repository.
    ///   - text: the generated text.
    /// - Returns: the text of the file.
    /// - Throws: if the file cannot be read or written.
    public static func text(of path: String, generated text: String) throws -> String {
        let file = top.appending(path: path)
        if ProcessInfo.processInfo.environment["UPDATE_GENERATED"] != nil {
            try Data(text.utf8).write(to: file)
        }
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    /// Returns the date in a manual page, which is not generated.
    ///
    /// - Parameter manualPage: the path, relative to the top of the repository.
    /// - Returns: such as `November 20, 2026`.
    /// - Throws: if the file cannot be read.
    public static func date(of manualPage: String) throws -> String {
        let page = String(decoding: try Data(contentsOf: top.appending(path: manualPage)), as: UTF8.self)
        let line = page.split(separator: "\n").first { $0.hasPrefix(".Dd ") }
        return line.map { String($0.dropFirst(4)) } ?? ""
    }
}
