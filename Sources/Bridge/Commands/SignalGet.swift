/// `rssi/get`: the last measured signal strength and the time of the measurement.
///
/// The Bluetooth stack measures only advertisements, and a connected tag does not advertise. The value therefore
/// belongs to the advertisement that led to the connection, or to a later one. Earlier measurements are not used.
struct SignalGet: TagRequest {
    static let name = "rssi/get"

    let operation: TagOperation? = nil

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        guard let measured = tag.measuredSignal else {
            return TagRequestOutcome(
                failure: CommandFailure(
                    .unsupported, "The signal of tag \(tag.entry.id) has not been measured for this link",
                    hint: "Bluetooth measures advertisements, and a connected tag sends none"))
        }
        let data = CommandData(SignalDocument(rssi: measured.value, time: measured.at.text))
        return TagRequestOutcome(data: data, publications: tag.signalRead(measured.value, at: now))
    }
}

/// The data of the result of `rssi/get`.
struct SignalDocument: Encodable {
    let rssi: Int
    let time: String
}
