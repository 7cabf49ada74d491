import JacquardProtocol

/// `request/pair_serial`: sets the serial for the next `request/pair` without one, as a word or in `serial`; an empty
/// payload clears it. For user interfaces with a text field and a button.
struct PairSerialRequest: BridgeRequest {
    static let name = "pair_serial"

    private let serial: String?

    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure) {
        serial = try PairRequest.arguments(payload).pairingSerial()?.text
    }

    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep {
        bridge.pairingProgress.setRequestSerial(serial, at: now)
        return .done(CommandData(PairSerialDocument(serial: serial)), bridge.publish(bridge.pairingFact))
    }
}

/// The data of the result of `request/pair_serial`.
struct PairSerialDocument: Encodable {
    @OrNull var serial: String?
}
