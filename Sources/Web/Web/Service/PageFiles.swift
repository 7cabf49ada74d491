import HTTPServer
import Time

/// The files of the page, which are compiled into the program.
enum PageFiles {
    /// A file with its type and a tag that changes with its content.
    struct File: Sendable {
        let type: String
        let content: [UInt8]
        let tag: String

        init(_ type: String, _ content: [UInt8]) {
            self.type = type
            self.content = content
            // It only has to differ between versions of the program.
            tag = "\"\(String(FNV1a(content).value, radix: 16))\""
        }
    }

    /// The files by path.
    static let all: [String: File] = [
        "/": html(PackageResources.index_html),
        "/style.css": File("text/css; charset=utf-8", PackageResources.style_css),
        "/icon.svg": File("image/svg+xml", PackageResources.icon_svg),
        "/app.js": script(PackageResources.app_js),
        "/connection.js": script(PackageResources.connection_js),
        "/hub.js": script(PackageResources.hub_js),
        "/shared.js": script(PackageResources.shared_js),
        "/model.js": script(PackageResources.model_js),
        "/values.js": script(PackageResources.values_js),
        "/elements.js": script(PackageResources.elements_js),
        "/tags.js": script(PackageResources.tags_js),
        "/cards.js": script(PackageResources.cards_js),
        "/table.js": script(PackageResources.table_js),
        "/tag.js": script(PackageResources.tag_js),
        "/chart.js": script(PackageResources.chart_js),
        "/pair.js": script(PackageResources.pair_js),
        "/why.js": script(PackageResources.why_js),
        "/findings.js": script(PackageResources.findings_js),
        "/events.js": script(PackageResources.events_js),
        "/log.js": script(PackageResources.log_js),
        "/fleet.js": script(PackageResources.fleet_js),
    ]

    private static func html(_ content: [UInt8]) -> File { File("text/html; charset=utf-8", content) }
    private static func script(_ content: [UInt8]) -> File { File("text/javascript; charset=utf-8", content) }

    /// The response for a path and the `If-None-Match` header `known`, or nil if there is no such file.
    static func response(for path: String, known: String?) -> HTTPResponse? {
        guard let file = all[path] else { return nil }
        let caching = [("ETag", file.tag), ("Cache-Control", "no-cache")]
        if known == file.tag { return HTTPResponse(status: 304, headers: caching) }
        return HTTPResponse(status: 200, headers: [("Content-Type", file.type)] + caching, body: file.content)
    }
}
