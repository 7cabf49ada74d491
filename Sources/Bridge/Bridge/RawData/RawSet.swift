import JSON
import JacquardProtocol
import Text

/// `raw/set`: selects what is published of the raw data characteristic, or writes to it. For research; off by default.
struct RawSet: TagRequest {
    static let name = "raw/set"
    static var needsPayload: Bool { true }
    static var access: CommandAccess { .admin }
    static let keys = ["views", "send"]

    private enum Work: Hashable {
        case views(RawViews)
        case send([UInt8])
    }

    private let work: Work

    var command: TagCommand? {
        switch work {
        case .views: nil
        case .send(let bytes): .sendRaw(bytes)
        }
    }

    fileprivate static let views: [(word: String, view: RawViews)] = [
        ("value", .value), ("packet", .packet), ("payload", .payload),
    ]

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        guard context.options.features.allowsRawData else {
            throw CommandFailure(
                .notPermitted, "Raw data is disabled in the configuration", hint: "Set raw: true, and reload")
        }
        let arguments = try CommandArguments(objectOnly: payload)
        switch (arguments["views"], arguments["send"]) {
        case (let value?, nil): work = .views(try Self.views(value))
        case (nil, .some):
            let allowed = "1 to \(Fragment.maximumPacketLength) bytes in hexadecimal, such as 0741"
            let bytes = try arguments.text("send", mayBe: allowed) { text in
                [UInt8](hex: text).flatMap { (1...Fragment.maximumPacketLength).contains($0.count) ? $0 : nil }
            }
            guard !context.features.usesRawData else {
                throw CommandFailure(
                    .busy, "Motion data uses the raw data characteristic", hint: "Send stop to imu/set first")
            }
            work = .send(try CommandArguments.required(bytes, "send", mayBe: allowed))
        case (.some, .some): throw CommandFailure(.invalidArgument, "\"views\" and \"send\" exclude each other")
        case (nil, nil):
            throw CommandFailure(
                .invalidArgument, "\"views\" or \"send\" is missing; views may be a list of \(Self.allowed)")
        }
    }

    private static let allowed = views.map(\.word).joined(separator: ", ")

    private static func views(_ value: JSONValue) throws(CommandFailure) -> RawViews {
        var result: RawViews = []
        for element in value.elements ?? [value] {
            guard let view = views.first(where: { $0.word == element.string })?.view else {
                throw .invalid("views", is: element, mayBe: "a list of \(allowed); an empty one ends it")
            }
            result.insert(view)
        }
        return result
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        guard case .views(let views) = work else { return TagRequestOutcome() }
        return TagRequestOutcome(order: views)
    }
}

/// The payload of `T/raw`.
struct RawDocument: JSONRecord {
    let bytes: [UInt8]
    let view: RawViews

    func addMembers(to object: inout JSONWriter) {
        object.add("bytes", bytes.hex)
        object.add("view", RawSet.views.first { $0.view == view }?.word ?? "value")
    }
}
