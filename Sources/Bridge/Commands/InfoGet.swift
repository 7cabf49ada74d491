import JacquardProtocol

/// `info/get`: reads device information of the tag or its gear and returns the document of `T/info` or `T/gear`.
struct InfoGet: TagRequest {
    static let name = "info/get"

    private let target: TagCommand.Target

    var operation: TagOperation? { .perform(.deviceInformation(of: target)) }

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        let arguments = try CommandArguments(emptyOrObject: payload)
        target = try arguments.word("component", of: [Word("tag", .tag), Word("gear", .gear)]) ?? .tag
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        guard case .tag(.component(let component)) = answer else { return TagRequestOutcome() }
        switch target {
        case .tag:
            let publications = tag.informed(component)
            return TagRequestOutcome(data: CommandData(tag.infoDocument), publications: publications)
        case .gear:
            let publications = tag.gearReported(component, at: now)
            return TagRequestOutcome(data: CommandData(GearDocument(tag.gear)), publications: publications)
        }
    }
}
