import HTTPServer
import JSON

extension HTTPResponse {
    /// A JSON document.
    static func json(_ status: Int, _ document: JSONValue) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: JSONText.bytes(of: document))
    }

    /// `{"error":{"code":"...","text":"..."}}`.
    static func error(_ status: Int, _ code: String, _ text: String) -> HTTPResponse {
        json(status, ["error": ["code": .string(code), "text": .string(text)]])
    }

    /// A method that the path does not have; RFC 9110 requires the list of the others.
    static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
        var response = error(405, "method_not_allowed", "Allowed: \(allowed).")
        response.headers.append(("Allow", allowed))
        return response
    }

    /// A copy with the headers that every response has.
    func secured(isFramed: Bool) -> HTTPResponse {
        var copy = self
        copy.headers += SecurityHeaders.all(isFramed: isFramed)
        return copy
    }
}

/// The headers of every response.
enum SecurityHeaders {
    /// The headers; `isFramed` says whether Home Assistant shows the page in a frame of its own origin.
    static func all(isFramed: Bool) -> [(name: String, value: String)] {
        let ancestors = isFramed ? "'self'" : "'none'"
        return [
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                    + "base-uri 'none'; form-action 'self'; frame-ancestors \(ancestors)"
            ),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
    }
}
