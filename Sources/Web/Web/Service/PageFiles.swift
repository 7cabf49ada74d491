import CPage
import HTTPServer
import Time

/// The files of the page, which are compiled into the program.
///
/// A script is served with all scripts that it imports in front of it, so that a browser asks for one file and not for each when it has
/// read the one before. So the scripts share one scope: no two declare the same name at their top, nor one that the browser has.
enum PageFiles {
    /// A file as it is compiled in.
    struct File: Sendable {
        let type: String
        /// `nonisolated(unsafe)`: constant data of the program.
        fileprivate nonisolated(unsafe) let bytes: UnsafeBufferPointer<UInt8>
    }

    /// The files by path.
    static let all: [String: File] = {
        var files: [String: File] = [:]
        var next = page_files()
        while let file = next?.pointee, let name = file.name {
            let name = String(cString: name)
            let bytes = UnsafeBufferPointer(start: file.bytes, count: Int(file.count))
            files[name == "index.html" ? "/" : "/" + name] = File(type: type(of: name), bytes: bytes)
            next = next?.successor()
        }
        return files
    }()

    /// Changes with the content of any file: it only has to differ between versions of the program.
    private static let tag = "\"\(String(all.values.reduce(0) { $0 &+ FNV1a($1.bytes).value }, radix: 16))\""

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "css": "text/css; charset=utf-8"
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    /// The response for a path and the `If-None-Match` header `known`, or nil if there is no such file.
    static func response(for path: String, known: String?) -> HTTPResponse? {
        guard let file = all[path] else { return nil }
        let caching = [("ETag", tag), ("Cache-Control", "no-cache")]
        if known == tag { return HTTPResponse(status: 304, headers: caching) }
        let body = path.hasSuffix(".js") ? script(path) : Array(file.bytes)
        return HTTPResponse(status: 200, headers: [("Content-Type", file.type)] + caching, body: body)
    }

    /// A script behind all that it imports.
    private static func script(_ path: String) -> [UInt8] {
        var script = JoinedScript()
        script.add(path, isMain: true)
        return script.bytes
    }
}

/// Scripts in one, each behind those that it imports.
///
/// An import is a line of its own, `import {a, b} from "./name.js";`, and what is exported is declared in a line that begins with
/// `export `: so nothing has to be parsed.
private struct JoinedScript {
    private(set) var bytes: [UInt8] = []
    private var paths: Set<String> = []

    /// Adds a script and what it imports, each once. Only what the main script exports stays exported.
    mutating func add(_ path: String, isMain: Bool) {
        guard paths.insert(path).inserted, let file = PageFiles.all[path] else { return }
        // The last one is empty.
        for line in file.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            if line.starts(with: "import {".utf8) {
                let name = line.split(separator: UInt8(ascii: "\"")).dropFirst().first ?? []
                add(String(decoding: name.dropFirst(), as: UTF8.self), isMain: false)
            } else {
                bytes += !isMain && line.starts(with: "export ".utf8) ? line.dropFirst("export ".utf8.count) : line
                bytes.append(UInt8(ascii: "\n"))
            }
        }
    }
}
