import Foundation

/// Google's own implementation of protobuf, run as a program over the project's schema.
struct Protoc {
    /// It could not be run, or refused: what it said.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// An envelope of the schema, such as `Request`.
    let message: String

    /// The bytes of a message that is given as text.
    func encode(_ text: String) throws -> [UInt8] {
        Array(try run("--encode", Data(text.utf8)))
    }

    /// The text of a message that is given as bytes.
    func decode(_ bytes: [UInt8]) throws -> String {
        String(decoding: try run("--decode", Data(bytes)), as: UTF8.self)
    }

    /// Input and output are files: a pipe could be inherited by a program that another test starts, and never end.
    private func run(_ direction: String, _ input: Data) throws -> Data {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["input", "output", "errors"].map { folder.appendingPathComponent($0) }
        for file in files { try input.write(to: file) }

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "protoc", "\(direction)=google.jacquard.protocol.\(message)", "--proto_path=\(Self.schema.folder)",
            Self.schema.file,
        ]
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try truncated(files[1])
        process.standardError = try truncated(files[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let errors = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
            throw Failure(description: "protoc (Debian: protobuf-compiler) failed: \(errors)")
        }
        return try Data(contentsOf: files[1])
    }

    private func truncated(_ file: URL) throws -> FileHandle {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        return handle
    }

    /// `Tests/Support/jacquard.proto`.
    private static let schema: (folder: String, file: String) = {
        let support = URL(filePath: "../../Support", relativeTo: URL(filePath: #filePath)).standardizedFileURL
        return (support.path, support.appendingPathComponent("jacquard.proto").path)
    }()
}
