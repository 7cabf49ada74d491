import JSON
import JacquardProtocol
import Time

/// `request/doctor`: finds problems of the host and the bridge, and with a tag the first broken link of the chain from the
/// broker to the tag. The tag is a bare word or the key `tag`.
///
/// The driver examines the host. Requests that arrive meanwhile share its report.
struct DoctorRequest: BridgeRequest {
    static let name = "doctor"
    static let keys = ["tag"]

    private let tag: TagID?

    /// Longer than the driver takes.
    var responseLimit: Duration { .seconds(5) }

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let arguments = try CommandArguments(payload, word: "tag")
        guard let text = try arguments.text("tag", longest: TagID.longest) else {
            tag = nil
            return
        }
        tag = bridge.tags[try bridge.tagPosition(text)].entry.id
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        if bridge.diagnostics.examinations.add(token) { effects.add(.examine(token: token)) }
        return .underWay
    }

    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep {
        guard case .examined(let report) = response else { return .failed(.neverEnded) }
        bridge.examined(response, for: token, at: now, &effects)
        let findings = BridgeFindings(of: bridge, at: now).all(with: report, tag: tag)
        let isLinked =
            tag.flatMap { bridge.tags.position(of: $0) }.map { bridge.tags[$0].link.connection.state.isLinked } ?? false
        return .done(CommandData(DoctorDocument(findings: findings, tag: tag, isLinked: isLinked)))
    }

    func failed(
        _ failure: CommandFailure, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) { bridge.examined(nil, for: token, at: now, &effects) }
}

/// The requests that wait for the driver's examination of the host. One examination serves all of them.
struct Examinations: Sendable {
    /// The first one started the examination.
    private var tokens: [UInt64] = []

    /// Adds a request.
    ///
    /// - Returns: whether to start the examination.
    mutating func add(_ token: UInt64) -> Bool {
        tokens.append(token)
        return tokens.count == 1
    }

    /// Handles the end of a request.
    ///
    /// - Returns: the other requests, if it is the one that started the examination.
    mutating func end(_ token: UInt64) -> [UInt64] {
        guard tokens.first == token else {
            tokens.removeAll { $0 == token }
            return []
        }
        defer { tokens = [] }
        return Array(tokens.dropFirst())
    }
}

/// The data of the result of `request/doctor`.
struct DoctorDocument: JSONRecord {
    let findings: [Finding]
    /// The requested tag; nil for none.
    let tag: TagID?
    /// Whether it has a link: it needs no scan then.
    let isLinked: Bool

    func addMembers(to object: inout JSONWriter) {
        let chain = tag == nil ? [] : Check.chain(in: isLinked ? findings.filter { $0.check != .discovery } : findings)
        object.add("broken", chain.first { $0.verdict == .failed }?.check.rawValue)
        // The checks from the broker to the tag, in order; empty without a tag.
        object.add("chain", chain.map(\.check.rawValue))
        object.add("checks", findings)
        object.add("status", Finding.Verdict.worst(of: findings).rawValue)
        object.add("tag", tag?.text)
    }
}

extension Check {
    /// The links from the broker to a tag.
    private static let links: [Check] = [
        .broker, .bridge, .systemBus, .bluetoothService, .bluetoothPolicy, .radioSwitch, .adapter, .discovery,
        .connectionPolicy, .received, .bond, .link,
    ]
    /// The links that are left out unless they failed.
    private static let quietLinks: Set<Check> = [
        .systemBus, .bluetoothService, .bluetoothPolicy, .radioSwitch, .discovery,
    ]

    /// Returns the findings about the links from the broker to a tag, in this order.
    static func chain(in findings: [Finding]) -> [Finding] {
        links.compactMap { link in
            findings.first { $0.check == link && ($0.verdict == .failed || !quietLinks.contains(link)) }
        }
    }
}
