import JacquardProtocol

/// How a request ends: what is answered, and what happens besides.
struct Reply {
    var status = Status.ok
    var body: Response.Body?
    var told: Told?
    /// Done behind the answer.
    var afterwards: [FirmwareAction] = []

    static let ok = Reply()

    static func refused(_ status: Status, body: Response.Body? = nil) -> Reply {
        Reply(status: status, body: body)
    }

    static func with(_ body: Response.Body, told: Told? = nil) -> Reply {
        Reply(body: body, told: told)
    }
}
