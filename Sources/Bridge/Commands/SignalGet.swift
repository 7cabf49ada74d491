/// `rssi/get`: reads the signal strength again; the result holds it.
struct SignalGet: TagRequest {
    static let name = "rssi/get"

    let errand: TagErrand? = .readSignal

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        guard case .host(.signal(let rssi)) = answer else { return TagRequestOutcome() }
        let known = rssi == TagSighting.signalNotAvailable ? nil : rssi
        let data = CommandData(SignalDocument(rssi: known, time: now.text))
        return TagRequestOutcome(data: data, publications: known.map { tag.signalRead($0, at: now) } ?? [])
    }
}

/// The data of the result of `rssi/get`.
struct SignalDocument: Encodable {
    @OrNull var rssi: Int?
    let time: String
}
