import CPage
import HTTPServer
import Time

/// The files of the page, which are compiled into the program.
enum PageFiles {
    /// A file with its type and a tag that changes with its content.
    struct File: Sendable {
        let type: String
        let tag: String
        /// `nonisolated(unsafe)`: constant data of the program.
        private nonisolated(unsafe) let bytes: UnsafeBufferPointer<UInt8>

        init(_ type: String, _ bytes: UnsafeBufferPointer<UInt8>) {
            self.type = type
            self.bytes = bytes
            // It only has to differ between versions of the program.
            tag = "\"\(String(FNV1a(bytes).value, radix: 16))\""
        }

        var content: [UInt8] { Array(bytes) }
    }

    /// The files by path.
    static let all: [String: File] = {
        var files: [String: File] = [:]
        var next = page_files()
        while let file = next?.pointee, let name = file.name {
            let name = String(cString: name)
            let bytes = UnsafeBufferPointer(start: file.bytes, count: Int(file.count))
            files[name == "index.html" ? "/" : "/" + name] = File(type(of: name), bytes)
            next = next?.successor()
        }
        return files
    }()

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
        let caching = [("ETag", file.tag), ("Cache-Control", "no-cache")]
        if known == file.tag { return HTTPResponse(status: 304, headers: caching) }
        return HTTPResponse(status: 200, headers: [("Content-Type", file.type)] + caching, body: file.content)
    }
}
