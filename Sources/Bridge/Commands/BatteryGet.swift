import JacquardProtocol

/// `battery/get`: reads the battery again; the result holds it.
struct BatteryGet: TagRequest {
    static let name = "battery/get"

    let command = TagCommand.batteryStatus

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        if case .text(let text) = payload {
            throw .invalid("payload", is: .string(text), mayBe: "empty, or an object with id and ttl_ms")
        }
    }

    func carriedOut(_ answer: TagCommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        guard case .battery(let battery) = answer else { return TagRequestOutcome() }
        let publications = tag.batteryTold(battery, at: now)
        return TagRequestOutcome(data: CommandData(BatteryDocument(tag.battery)), publications: publications)
    }
}
