import JacquardProtocol

/// `battery/get`: reads the battery level and returns it in the result.
struct BatteryGet: TagRequest {
    static let name = "battery/get"

    let operation: TagOperation? = .perform(.batteryStatus)

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        guard case .tag(.battery(let battery)) = answer else { return TagRequestOutcome() }
        let publications = tag.batteryReported(battery, at: now)
        return TagRequestOutcome(data: CommandData(BatteryDocument(tag.battery)), publications: publications)
    }
}
